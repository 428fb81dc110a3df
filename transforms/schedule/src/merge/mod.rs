//! `te-merge`: stages of a kernel that go over the same points become one stage with several results.
//!
//!     a[i] = x[i] + y[i]            (a, b)[i] = let v = x[i] + y[i]         a is stored once and not read again
//!     b[i] = relu(a[i])       =>                (v, relu(v))
//!
//!     s += x[k]                     (s, q) += (x[k], x[k] * x[k])           x is read once
//!     q += x[k] * x[k]        =>
//!
//! What a stage costs is mostly the memory it goes through; XLA calls this multi-output fusion (sibling and producer-consumer).
//! Three steps are taken until none applies:
//!
//! 1. *Join*: two elementwise stages, both of them results of the kernel, or two reductions that read each element once,
//!    over the same axes and, except for small ones, over a common tensor. No third stage may lie between them.
//! 2. *Absorb*: what only such a stage reads, at its own point, becomes part of it.
//! 3. *Store late*: a result that is computed inside another's loops (a contraction with an epilogue, what goes over rows
//!    that are reduced) is stored by the elementwise stage at the end, next to its own result.
//!
//! A stage with one result is left as it is, so that schedules see what there was.

mod join;
mod late;

pub use late::epilogues;

use super::auto_schedule::{fits_lanes, reads_once};
use super::schedule::{Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{Access, accesses};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Op, OpExt, Pass, PassError, RunContext, StatisticSpec, defining_op, key, kind_of, nested_ops, tensor_type,
};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;

/// Results of a stage, at most: more streams than the processor follows would slow each other down.
const MOST_RESULTS: usize = 16;
/// Stages up to this many elements are joined whatever they read: what they cost is to begin.
const SMALL: u64 = 4096;

/// The pass.
pub struct TeMerge;

impl Pass for TeMerge {
    const NAME: &'static str = "te-merge";
    const DESCRIPTION: &'static str = "Make one stage with several results of stages over the same points";
    const ANCHOR: Option<&'static str> = Some("te.kernel");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "joined", description: "Pairs of stages that became one" },
        StatisticSpec { name: "absorbed", description: "Stages that became part of the one that reads them" },
        StatisticSpec { name: "late", description: "Results that are stored at the end of another stage" },
    ];
    const DIALECTS: &'static [&'static str] = &["te", "arith"];

    fn run<'c>(kernel: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        // Each step leaves fewer stages or results of stages that read others, so this ends.
        while let Some(step) = step(kernel) {
            cx.count(step as usize, 1);
        }
        Ok(())
    }
}

/// What was done; the numbers are places in the list of statistics.
#[derive(Clone, Copy)]
enum Step {
    Join = 0,
    Absorb = 1,
    StoreLate = 2,
}

/// Takes the first step that applies.
fn step(kernel: Op) -> Option<Step> {
    let tree = Stages::of(kernel);
    let count = tree.stages.len();
    // A long chain has few of these, and pairs of all its stages are many.
    let ends: Vec<StageId> = (0..count).filter(|&s| tree.facts[s].is_end).collect();
    let absorbed = |&b: &StageId| (0..b).find(|&a| may_absorb(&tree, a, b)).map(|a| (a, b));
    if let Some((a, b)) = ends.iter().find_map(absorbed) {
        join::join(&tree, a, b);
        return Some(Step::Absorb);
    }
    let before = |b: StageId| ends.iter().copied().take_while(move |&a| a < b);
    let joined = |&b: &StageId| before(b).find(|&a| may_join(&tree, a, b)).map(|a| (a, b));
    if let Some((a, b)) = ends.iter().find_map(joined) {
        join::join(&tree, a, b);
        return Some(Step::Join);
    }
    let (stage, end) = (0..count).find_map(|s| Some((s, late::end_of(&tree, s)?)))?;
    late::store(&tree, stage, end);
    Some(Step::StoreLate)
}

/// What is asked of a stage for each pair.
#[derive(Clone, Copy)]
struct Facts {
    /// The same number for all stages with the same axes, reduction axes among them.
    points: usize,
    results: usize,
    is_result: bool,
    is_elementwise: bool,
    /// True for what others may be joined with or absorbed by: results of the kernel, and reductions.
    is_end: bool,
}

/// The stages of a kernel, with who reads whom.
struct Stages<'c> {
    tree: Schedule<'c>,
    facts: Vec<Facts>,
    consumers: Vec<Vec<StageId>>,
    sources: Vec<OnceCell<BTreeSet<usize>>>,
}

impl<'c> Stages<'c> {
    fn of(kernel: Op<'c>) -> Self {
        let tree = Schedule::of(kernel);
        let mut consumers: Vec<Vec<StageId>> = vec![Vec::new(); tree.stages.len()];
        let makers = tree.stages.iter().enumerate();
        let makers: HashMap<usize, StageId> =
            makers.flat_map(|(id, s)| s.op.result_values().into_iter().map(move |v| (key(v), id))).collect();
        for (reader, stage) in tree.stages.iter().enumerate() {
            let inside = nested_ops(stage.op).into_iter().chain([stage.op]);
            let read: BTreeSet<StageId> = inside
                .flat_map(|op| op.operand_values())
                .filter_map(|v| makers.get(&key(v)).copied())
                .collect();
            read.into_iter().filter(|s| *s != reader).for_each(|s| consumers[s].push(reader));
        }
        let sources = tree.stages.iter().map(|_| OnceCell::new()).collect();
        let mut points = HashMap::new();
        let facts = (0..tree.stages.len()).map(|stage| {
            let op = tree.stages[stage].op;
            let (count, axes) = (points.len(), [op.ints("axes"), op.ints("reduce")]);
            let is_result = tree.results.contains(&stage);
            let is_elementwise = is_elementwise(&tree, stage);
            Facts {
                points: *points.entry(axes).or_insert(count),
                results: results(&tree, stage),
                is_result,
                is_elementwise,
                is_end: is_compute(&tree, stage) && (!is_elementwise || is_result),
            }
        });
        let facts = facts.collect();
        Stages { tree, facts, consumers, sources }
    }

    /// The stages that read a stage.
    fn consumers(&self, stage: StageId) -> &[StageId] {
        &self.consumers[stage]
    }
}

impl<'c> Deref for Stages<'c> {
    type Target = Schedule<'c>;

    fn deref(&self) -> &Schedule<'c> {
        &self.tree
    }
}

fn is_compute(tree: &Schedule, stage: StageId) -> bool {
    matches!(kind_of(tree.stages[stage].op), Some(Kind::Te(Te::Compute)))
}

fn is_elementwise(tree: &Schedule, stage: StageId) -> bool {
    is_compute(tree, stage) && !tree.stages[stage].is_reduction()
}

fn results(tree: &Schedule, stage: StageId) -> usize {
    tree.stages[stage].op.result_values().len()
}

/// Number of points at which a stage is computed.
fn points(tree: &Schedule, stage: StageId) -> u64 {
    let s = &tree.stages[stage];
    s.axes[..s.op_axes()].iter().map(|a| a.extent).fold(1, u64::saturating_mul)
}

/// How a stage reads another.
fn reads_of<'c>(tree: &Schedule<'c>, reader: StageId, of: StageId) -> Vec<Access<'c>> {
    let reads = accesses(tree.stages[reader].op).into_iter();
    reads.filter(|a| tree.giving(a.tensor) == Some(of)).collect()
}

/// True when a stage reads another at its own point only.
fn reads_at_own_point(tree: &Schedule, reader: StageId, of: StageId) -> bool {
    let s = &tree.stages[reader];
    let own = |axis: usize| Expr::var(axis, s.axes[axis].extent);
    let at_own = |a: &Access| {
        a.indices.len() == s.rank() && a.indices.iter().enumerate().all(|(i, e)| e.as_ref() == Some(&own(i)))
    };
    let reads = reads_of(tree, reader, of);
    is_compute(tree, reader) && !reads.is_empty() && reads.iter().all(at_own)
}

/// True when a stage is another or reads it, itself or through others.
fn reaches(tree: &Stages, from: StageId, to: StageId) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(next) = open.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            open.extend(tree.consumers(next));
        }
    }
    false
}

/// True when a third stage reads the first and is read by the last.
fn lies_between(tree: &Stages, first: StageId, last: StageId) -> bool {
    tree.consumers(first).iter().any(|&c| c != last && reaches(tree, c, last))
}

/// The tensors that a stage reads, through elementwise stages.
fn sources<'t>(tree: &'t Stages, stage: StageId) -> &'t BTreeSet<usize> {
    tree.sources[stage].get_or_init(|| find_sources(tree, stage))
}

fn find_sources(tree: &Stages, stage: StageId) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![stage];
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        for access in accesses(tree.stages[next].op) {
            match tree.giving(access.tensor) {
                Some(read) if is_elementwise(tree, read) => {
                    found.insert(key(access.tensor));
                    if seen.insert(read) {
                        open.push(read);
                    }
                }
                _ => drop(found.insert(key(access.tensor))),
            }
        }
    }
    found
}

fn share_a_source(tree: &Stages, a: StageId, b: StageId) -> bool {
    let large = |tensor: &usize| {
        let inputs = tree.inputs.iter().copied();
        let made = tree.stages.iter().flat_map(|s| s.op.result_values());
        let ty = inputs.chain(made).find(|v| key(*v) == *tensor).and_then(tensor_type);
        ty.and_then(|t| t.elements()).is_some_and(|n| n > 1)
    };
    let (a, b) = (sources(tree, a), sources(tree, b));
    a.intersection(b).any(large)
}

/// True for two stages that are better one.
fn may_join(tree: &Stages, a: StageId, b: StageId) -> bool {
    let (first, second) = (tree.facts[a], tree.facts[b]);
    let fit = first.points == second.points && first.results + second.results <= MOST_RESULTS;
    if !fit || !first.is_end || !second.is_end {
        return false;
    }
    let reads = tree.consumers(a).contains(&b);
    if lies_between(tree, a, b) || tree.consumers(b).contains(&a) {
        return false;
    }
    if tree.stages[a].is_reduction() {
        let in_lanes = fits_lanes(tree, a) == fits_lanes(tree, b);
        let once = reads_once(tree, a) && reads_once(tree, b);
        return !reads && once && in_lanes && share_a_source(tree, a, b);
    }
    first.is_result
        && second.is_result
        && if reads {
            reads_at_own_point(tree, b, a)
        } else {
            points(tree, b) <= SMALL || share_a_source(tree, a, b)
        }
}

/// True when an elementwise stage is read by one with several results alone, or by one that is to be such.
fn may_absorb(tree: &Stages, a: StageId, b: StageId) -> bool {
    let (first, second) = (tree.facts[a], tree.facts[b]);
    let is_other = |(other, facts): (StageId, &Facts)| {
        let fits = facts.is_result && facts.is_elementwise && facts.points == second.points;
        other != b && fits && reads(tree, a, other)
    };
    first.is_elementwise
        && !first.is_result
        && second.is_result
        && second.is_elementwise
        && first.points == second.points
        && tree.consumers(a) == [b]
        && reads_at_own_point(tree, b, a)
        && (second.results > 1 || tree.facts.iter().enumerate().any(is_other))
}

/// True when a stage reads another, itself or through elementwise stages.
fn reads(tree: &Stages, reader: StageId, of: StageId) -> bool {
    let results = tree.stages[of].op.result_values();
    let found = sources(tree, reader);
    results.into_iter().any(|r| found.contains(&key(r)))
}

/// The kernel's operation that ends it.
fn return_of<'c>(tree: &Schedule<'c>) -> Option<Op<'c>> {
    let ops = tree.kernel.body(0).map(fusion_dialects::ops_in)?;
    ops.last().copied().filter(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Return))))
}

/// The operations of a kernel between two, the second excluded, that the second needs.
fn needed_between<'c>(tree: &Schedule<'c>, first: Op<'c>, second: Op<'c>) -> Vec<Op<'c>> {
    let ops = tree.kernel.body(0).map(fusion_dialects::ops_in).unwrap_or_default();
    let place = |op: Op<'c>| ops.iter().position(|o| *o == op).unwrap_or(0);
    let (from, to) = (place(first), place(second));
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut open = vec![second];
    while let Some(op) = open.pop() {
        let inside = fusion_dialects::nested_ops(op).into_iter().flat_map(|o| o.operand_values());
        for source in op.operand_values().into_iter().chain(inside).filter_map(defining_op) {
            let at = ops.iter().position(|o| *o == source);
            if let Some(at) = at.filter(|at| (from + 1..to).contains(at))
                && needed.insert(at)
            {
                open.push(source);
            }
        }
    }
    needed.into_iter().map(|at| ops[at]).collect()
}
