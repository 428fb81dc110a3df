//! Which stages are computed where they are used.
//!
//! An elementwise stage goes into its consumers when that repeats no work to speak of; a reduction goes into the loop of
//! the one elementwise stage behind it (its epilogue), so that its result never reaches memory.

use super::accesses::{shape_of, stage_of};
use super::reductions::differs_at_each_point;
use super::writer::Writer;
use crate::merge::epilogues;
use crate::schedule::{Attach, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::{Expr, flatten};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, ValueLike, dtype_of, kind_of, ops_in};
use fusion_operators::DType;

/// Scalar operations that may be repeated without a thought.
const CHEAP_OPERATIONS: usize = 12;
/// Operations, with those of what is inlined, that are written again for another reader. Each of a chain of stages that is read
/// twice would double them.
const MOST_WRITTEN_AGAIN: usize = 128;

/// A stage with loops of its own, and the reduction that is to be computed inside them.
#[derive(Clone, Copy)]
pub struct Nest {
    /// The stage.
    pub stage: StageId,
    /// A reduction whose elements are computed where the stage uses them.
    pub reduction: Option<StageId>,
}

/// Decides for all stages, but those that are kept for now; gives those with loops of their own.
pub fn place(writer: &mut Writer, kept: &[StageId]) -> Result<Vec<Nest>, String> {
    let mut written = vec![0; writer.tree.stages.len()];
    for stage in 0..writer.tree.stages.len() {
        written[stage] = operations_written(&writer.tree, stage, &written);
        if !kept.contains(&stage) && goes_inline(&writer.tree, stage, written[stage]) {
            writer.inline(stage)?;
        }
    }
    let tree = &writer.tree;
    let is_nest = |s: &StageId| tree.stages[*s].attach == Attach::Root && is_compute(tree.stages[*s].op);
    let nests: Vec<StageId> = (0..tree.stages.len()).filter(is_nest).collect();
    let mut epilogue_of: Vec<Option<StageId>> = vec![None; tree.stages.len()];
    for &stage in &nests {
        if let Some(consumer) = epilogue(tree, stage)
            && epilogue_of[consumer].is_none()
        {
            epilogue_of[consumer] = Some(stage);
        }
    }
    let inside = |s: StageId| epilogue_of.contains(&Some(s));
    Ok(nests.iter().filter(|&&s| !inside(s)).map(|&s| Nest { stage: s, reduction: epilogue_of[s] }).collect())
}

fn is_compute(op: Op) -> bool {
    matches!(kind_of(op), Some(Kind::Te(Te::Compute)))
}

/// What computing an element costs.
struct Effort {
    operations: usize,
    loads: usize,
    /// Exponentials and the like.
    transcendental: bool,
    /// Elements are chosen by conditions on indices, or found by indices that are data.
    irregular: bool,
}

fn effort(op: Op) -> Effort {
    let mut found = Effort { operations: 0, loads: 0, transcendental: false, irregular: false };
    let Some(body) = op.body(0) else { return found };
    for op in ops_in(body) {
        match kind_of(op) {
            Some(Kind::Te(Te::Load | Te::LoadIf)) => found.loads += 1,
            Some(Kind::Te(_)) => {}
            Some(Kind::Upstream(kind)) => {
                found.transcendental |= kind.is_transcendental();
                found.irregular |= matches!(kind, Upstream::CmpI | Upstream::IndexCast);
                let index_only = matches!(kind, Upstream::ArithConstant | Upstream::DivUI | Upstream::RemUI);
                found.operations += usize::from(!index_only);
            }
            _ => found.operations += 1,
        }
    }
    let affine = accesses(op).iter().all(|a| a.indices.iter().all(Option::is_some));
    found.irregular |= !affine;
    found
}

/// True for elementwise stages that may be computed anew wherever they are used, whatever their conditions on indices.
pub fn is_cheap(tree: &Schedule, stage: StageId) -> bool {
    let s = &tree.stages[stage];
    let effort = effort(s.op);
    let cheap = !effort.transcendental && effort.operations <= CHEAP_OPERATIONS;
    cheap && !s.is_reduction() && is_compute(s.op) && s.op.result_values().len() == 1
}

/// How many operations compute numbers for an element of a cheap stage, itself or in what is inlined into it. Choosing
/// which elements stand where, as padding does, is none.
pub fn operations_of_element(tree: &Schedule, stage: StageId) -> Option<usize> {
    let s = &tree.stages[stage];
    let computes = |op: &Op| {
        let is_number = |v: &Value| dtype_of(v.r#type()).is_some_and(|dtype| dtype != DType::Bool);
        let moves = matches!(kind_of(*op), Some(Kind::Te(_) | Kind::Upstream(Upstream::ArithConstant)));
        !moves && op.result_values().iter().any(is_number)
    };
    let body = s.op.body(0).filter(|_| is_cheap(tree, stage))?;
    let own = ops_in(body).iter().filter(|op| computes(op)).count();
    inlined(tree, stage)
        .map(|read| operations_of_element(tree, read))
        .sum::<Option<usize>>()
        .map(|read| own + read)
}

/// The stages that are computed where a stage reads them.
pub fn inlined(tree: &Schedule, stage: StageId) -> impl Iterator<Item = StageId> {
    let read = accesses(tree.stages[stage].op).into_iter().filter_map(|a| stage_of(tree, a.tensor));
    read.filter(|&read| tree.stages[read].attach == Attach::Inline)
}

/// The operations that an element of a stage becomes, with those of what is inlined into it, of which it is known.
fn operations_written(tree: &Schedule, stage: StageId, known: &[usize]) -> usize {
    let op = tree.stages[stage].op;
    let own = op.body(0).map_or(0, |body| ops_in(body).len());
    inlined(tree, stage).fold(own, |sum, read| sum.saturating_add(known[read]))
}

fn goes_inline(tree: &Schedule, stage: StageId, written: usize) -> bool {
    let s = &tree.stages[stage];
    if s.is_reduction()
        || tree.results.contains(&stage)
        || !is_compute(s.op)
        || s.op.result_values().len() != 1
    {
        return false;
    }
    let consumers = tree.consumers(stage);
    if consumers.iter().any(|&c| !is_compute(tree.stages[c].op)) {
        return false;
    }
    let effort = effort(s.op);
    if effort.loads == 0 && !effort.transcendental {
        return true;
    }
    let reads = |c: StageId| {
        accesses(tree.stages[c].op).iter().filter(|a| stage_of(tree, a.tensor) == Some(stage)).count()
    };
    let uses: usize = consumers.iter().map(|&c| reads(c)).sum();
    if uses > 1 && written > MOST_WRITTEN_AGAIN {
        return false;
    }
    let cheap = !effort.transcendental && effort.operations <= CHEAP_OPERATIONS;
    let elements: u64 = shape_of(tree, stage).iter().product();
    // How often each element would be computed, at most.
    let points: u64 = consumers.iter().map(|&c| most_computed(tree, stage, c)).max().unwrap_or(0);
    let reused = elements > 0 && points > elements;
    if consumers.iter().any(|&c| tree.stages[c].is_reduction()) {
        let free = effort.operations == 0 && !effort.irregular;
        return uses == 1 && (free || (!effort.irregular && !reused));
    }
    if reused { cheap && !effort.irregular } else { uses == 1 || cheap }
}

/// The greatest number of elements of a stage that are computed when another has them inline.
fn most_computed(tree: &Schedule, stage: StageId, consumer: StageId) -> u64 {
    let (c, shape) = (&tree.stages[consumer], shape_of(tree, stage));
    let extents: Vec<u64> = c.axes[..c.op_axes()].iter().map(|a| a.extent).collect();
    let reads = accesses(c.op).into_iter().filter(|a| stage_of(tree, a.tensor) == Some(stage));
    // In a box that holds all indices: those of a conditional load may lie outside of the tensor.
    let in_a_box = |indices: Vec<Option<Expr>>| {
        let indices: Vec<Expr> = indices.into_iter().collect::<Option<_>>()?;
        let spans: Option<Vec<u64>> =
            indices.iter().map(|e| e.range().map(|(low, high)| (high - low) as u64 + 1)).collect();
        Some(flatten(&indices, &spans?))
    };
    let mut offsets = reads.map(|a| in_a_box(a.indices));
    match offsets.all(|e| e.is_some_and(|e| differs_at_each_point(&e, &extents))) {
        true => shape.iter().product(),
        false => extents.iter().product(),
    }
}

/// The elementwise stage a reduction can be computed in: the only one that reads it, itself or through others, each element
/// once.
fn epilogue(tree: &Schedule, stage: StageId) -> Option<StageId> {
    let s = &tree.stages[stage];
    if !s.is_reduction() || tree.results.contains(&stage) || s.op.result_values().len() != 1 {
        return None;
    }
    let ends = epilogues(tree, stage, &|s| tree.stages[s].attach != Attach::Inline)?;
    let [end] = ends[..] else { return None };
    (tree.stages[end].attach == Attach::Root).then_some(end)
}
