//! Nests without a reduction that read some tensor across the order in which they write: transposes and what is fused to
//! them.
//!
//!     for i, j  y[i, j] = x[j, i]    =>    for io, jo  for ib, jb (blocks that stay in the cache)
//!                                            for ii (16, unrolled)  for jj (16, vectorized)    y[i, j] = x[j, i]
//!
//! Each register tile is loaded along `i` and stored along `j`, transposed in registers by `loop-transpose`. Where what is read
//! lies nowhere evenly along `j`, as in the phases of a transposed convolution, vectors are along `i`:
//!
//!     y[f, o] = z[o div 2, o mod 2, f]      for fo, oo  for oi (16, unrolled)  for fi (16, vectorized)
//!
//! Where all lines that a tile reads, and all that it writes, fall on one set of the caches, so do those of the tiles beside it, both ways.
//! There the next tile is one along a third axis, which goes to other sets:
//!
//!     y[c, j, i] = x[i, j, c]      for jo, io, co  for ji (8)  for ci (16, unrolled)  for ii (16, vectorized)
//!
//! The gate of 64 x 64 x 128 numbers that is transposed so takes 0.19 instead of 0.28 ms on a core of an AMD Zen 5.
//!
//! Where results go past the caches ([`streams`]), what takes long is memory. Rows that come from there are read some lines of each at a time; of what the
//! last cache still holds any order is read as fast, and those that are stored have some lines of each, while a tile prefetches lines of the next block:
//!
//!     for io, jo  for ji, ii          2000 x 3000 takes 0.63 ms on a core of Zen 5, with `ii, ji` 1.02, a copy 0.8
//!     for jo, io  prefetch x[io + 1]  for ii, ji          2048 x 2048 takes 0.49 ms, the other way 0.65, a copy 0.53
//!
//! A tensor that is repeated has blocks that nothing turns round, and its rows are copied:
//!
//!     y[i, j] = x[i mod 512, j mod 1024]      for ri, i, rj, j (vectorized)
//!
//! Axes that go over blocks are parted first, and rows that do not fill vectors become one with those behind them (`regrouping`): 128 channels of
//! 28 x 28 pixels in blocks of 32 are taken apart in 8.8 us on a core of Zen 4, where a copy takes 7.7, and an element at a time takes 60.

use crate::auto_schedule::accesses::{lanes, offsets};
use crate::auto_schedule::cpu::regrouping::Regrouped;
use crate::auto_schedule::cpu::streams;
use crate::auto_schedule::fusion::{along_fused, fusable};
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::operands::operands;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{Attach, AxisId, Handle, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Machine;
use std::collections::BTreeSet;

/// Shorter axes fill no vector.
const FEWEST: u64 = 4;
/// Elements of a side of the blocks between which pages and lines of the cache change.
const BLOCK: u64 = 64;

/// Elements of four bytes from one to the next that has the same place in a page: a first cache's sets are those of a page.
const SAME_SET: i64 = 1024;

/// Tiles along a third axis that follow each other; 4 and 16 took as long or longer.
const BESIDE: u64 = 8;

/// The kind.
pub struct Transposing;

impl Kind for Transposing {
    fn about(&self) -> About {
        About {
            name: "transposing",
            matches: "a nest without a reduction that reads some tensor across the order in which it writes",
            knobs: &[],
            formula: "vectors x (operations, and shuffles that turn a tile round)",
            keeps_order: true,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().filter_map(|nest| find(tree, nest, kernel.machine)))
    }
}

/// A nest that is transposed.
struct Transposed {
    stage: StageId,
    nest: Regrouped,
    /// The axis of a tile's other side; none where parting axes has left nothing that is turned round.
    across: Option<usize>,
    last: usize,
}

fn find(tree: &Schedule, nest: &Nest, machine: &Machine) -> Option<Transposed> {
    let stage = nest.stage;
    let s = &tree.stages[stage];
    if nest.reduction.is_some() || s.is_reduction() || s.rank() == 0 {
        return None;
    }
    let accesses = offsets(tree, stage, None);
    let extents: Vec<u64> = s.axes[..s.rank()].iter().map(|a| a.extent).collect();
    let is_contiguous =
        |together| along_fused(&accesses, &extents, together).iter().all(|c| matches!(c, Some(0 | 1)));
    if fusable(&accesses, &extents) != 1 || is_contiguous(1) {
        return None;
    }
    let mut nest = Regrouped::of(&accesses, &extents);
    let mut found = across(&nest.accesses, &nest.extents);
    if found.is_none() {
        nest.part_blocks();
        let last = nest.extents.len() - 1;
        if nest.along(last).iter().all(|along| matches!(along, Some(0 | 1))) {
            return Some(Transposed { stage, nest, across: None, last });
        }
        found = across(&nest.accesses, &nest.extents);
    }
    let (mut across, mut last) = (found?, nest.extents.len() - 1);
    // Other nests may be computed row by row beside this one.
    if is_alone(tree, stage) {
        let lanes = lanes(tree, stage, machine.vector_bytes);
        (last, across) = nest.fill(last, across, lanes);
        (across, last) = nest.fill(across, last, lanes);
    }
    Some(Transposed { stage, nest, across: Some(across), last })
}

impl Match for Transposed {
    fn nests(&self) -> Vec<StageId> {
        vec![self.stage]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let lanes = traffic::lanes(tree, self.stage, kernel);
        let turned = match self.across {
            Some(_) => {
                traffic::points(tree, self.stage) / lanes * lanes.log2().max(1.0)
                    / kernel.machine.loads as f64
            }
            None => 0.0,
        };
        let cycles = traffic::in_vectors(tree, self.stage, kernel).max(turned);
        Some(traffic::seconds(tree, kernel, &[self.stage], cycles))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        let (nest, stage) = (&self.nest, self.stage);
        nest.write(writer, stage)?;
        let axes = writer.tree.stages[stage].leaves.clone();
        let Some(across) = self.across else {
            let lanes = lanes(&writer.tree, stage, kernel.machine.vector_bytes);
            let mut row = axes[self.last];
            if nest.extents[self.last] > lanes {
                (_, row) = writer.split(stage, row, lanes)?;
            }
            return writer.vectorize(stage, row);
        };
        let beside = beside(&nest.accesses, &nest.extents, across).map(|axis| axes[axis]);
        let sides = (nest.extents[across], nest.extents[self.last]);
        let along = nest.along(self.last);
        tile(writer, stage, (axes[across], axes[self.last]), sides, &along, beside, kernel.machine)
    }
}

/// True for the only nest of a kernel: all other stages are computed where it uses them.
fn is_alone(tree: &Schedule, stage: StageId) -> bool {
    let stages = tree.stages.iter().enumerate();
    stages.into_iter().all(|(other, s)| other == stage || s.attach == Attach::Inline)
}

/// The axis along which everything that is not contiguous along the last one is.
fn across(accesses: &[Option<Expr>], extents: &[u64]) -> Option<usize> {
    let last = extents.len().checked_sub(1)?;
    if !matches!(accesses.first()?.as_ref()?.coefficient(last), Some(0 | 1)) {
        return None;
    }
    let strided = || {
        accesses.iter().filter(|e| {
            let along = e.as_ref().map(|e| e.coefficient(last));
            !matches!(along, Some(Some(0 | 1)))
        })
    };
    // Those that go elsewhere with each element of the last axis are vectors across it.
    let is_known = |e: &Option<Expr>| e.as_ref().is_some_and(|e| !e.is_opaque());
    (0..last)
        .rev()
        .filter(|&a| extents[a] >= FEWEST)
        .find(|&a| strided().all(|e| is_known(e) && e.as_ref().is_some_and(|e| e.coefficient(a) == Some(1))))
}

/// True where rows of the result are shorter than a vector, and so many of them as a vector has lanes are one: vectors along the other axis are
/// interleaved.
fn is_short(
    tree: &Schedule,
    stage: StageId,
    (rows, columns): (u64, u64),
    lanes: u64,
    machine: &Machine,
) -> bool {
    let result = tree.stages[stage].op.result_values().first().copied().and_then(tensor_type);
    let bytes = result.map_or(u64::MAX, |ty| columns * lanes * ty.dtype.size() as u64);
    columns < lanes && columns.is_power_of_two() && rows >= lanes && bytes <= machine.vector_bytes
}

/// True for a distance of elements that fall on one set.
fn is_same_set(distance: i64) -> bool {
    distance != 0 && distance % SAME_SET == 0
}

/// Where all lines of a tile fall on one set, those it reads and those it writes: an axis along which tiles go to other sets.
fn beside(accesses: &[Option<Expr>], extents: &[u64], across: usize) -> Option<usize> {
    let last = extents.len().checked_sub(1)?;
    let (store, loads) = accesses.split_first()?;
    let along = |e: &Option<Expr>, axis: usize| e.as_ref().and_then(|e| e.coefficient(axis));
    let conflicts = |e: &Option<Expr>, axis: usize| along(e, axis).is_some_and(is_same_set);
    if !conflicts(store, across) || !loads.iter().any(|e| conflicts(e, last)) {
        return None;
    }
    let goes_on = |e: &Option<Expr>, axis: usize| along(e, axis).is_some_and(|n| !is_same_set(n));
    let others = (0..last).rev().filter(|&a| a != across && extents[a] >= BESIDE);
    others.into_iter().find(|&a| accesses.iter().all(|e| goes_on(e, a)))
}

/// Tiles in registers of the axis `across` and the last one, in blocks; `distances` are those of elements along the last axis, and
/// `beside` is the axis of which some follow each other.
fn tile(
    writer: &mut Writer,
    stage: StageId,
    (across, last): (AxisId, AxisId),
    (rows, columns): (u64, u64),
    distances: &[Option<i64>],
    beside: Option<AxisId>,
    machine: &Machine,
) -> Result<(), String> {
    let lanes = lanes(&writer.tree, stage, machine.vector_bytes);
    let is_far = streams::results(&writer.tree, machine).contains(&stage);
    let mut order: Vec<AxisId> =
        writer.tree.stages[stage].leaves.iter().copied().filter(|&a| a != across && a != last).collect();
    let (mut blocks, mut tiles) = (Vec::new(), Vec::new());
    let mut inner = Vec::new();
    for (axis, extent) in [(across, rows), (last, columns)] {
        let mut rest = axis;
        if extent > 2 * BLOCK {
            let (outer, block) = writer.split(stage, rest, BLOCK)?;
            blocks.push(outer);
            rest = block;
        }
        if extent > lanes {
            let (outer, block) = writer.split(stage, rest, lanes)?;
            tiles.push(outer);
            rest = block;
        }
        inner.push(rest);
    }
    if distances.iter().any(Option::is_none) || is_short(&writer.tree, stage, (rows, columns), lanes, machine)
    {
        inner.reverse();
    }
    writer.unroll(stage, inner[0])?;
    writer.vectorize(stage, inner[1])?;
    // The other half is others'.
    let is_held = is_far
        && beside.is_none()
        && blocks.len() == 2
        && streams::given(&writer.tree) <= machine.last_cache / 2;
    if is_held {
        blocks.reverse();
    }
    order.extend(&blocks);
    // Rows that fall on one set of the caches push each other out: some of them are read to their ends.
    if !is_held && (is_far || distances.iter().flatten().any(|&n| is_same_set(n))) {
        tiles.reverse();
    }
    order.extend(&tiles);
    if let Some(beside) = beside {
        match writer.tree.stages[stage].axes[beside].extent > BESIDE {
            true => {
                let (outer, some) = writer.split(stage, beside, BESIDE)?;
                order.iter_mut().filter(|a| **a == beside).for_each(|a| *a = outer);
                order.push(some);
            }
            false => {
                order.retain(|a| *a != beside);
                order.push(beside);
            }
        }
    }
    order.extend(inner);
    writer.reorder(stage, &order)?;
    match (&blocks[..], tiles.last()) {
        (&[_, next], Some(&tile)) if is_held => prefetch(writer, stage, next, tile, machine),
        _ => Ok(()),
    }
}

/// Has the tiles of a block prefetch those of the next one, of what no near cache holds.
fn prefetch(
    writer: &mut Writer,
    stage: StageId,
    blocks: AxisId,
    tiles: AxisId,
    machine: &Machine,
) -> Result<(), String> {
    let read = operands(&writer.tree, stage).unwrap_or_default();
    let bytes = |input: usize| tensor_type(writer.tree.inputs[input]).and_then(|t| t.bytes());
    let is_far = |input: &usize| bytes(*input).is_some_and(|bytes| bytes > machine.second_cache);
    let inputs: BTreeSet<usize> = read.iter().filter_map(|operand| operand.input).filter(is_far).collect();
    let mut asked = inputs.into_iter();
    asked.try_for_each(|input| {
        writer.prefetch_over(Handle::Input(input), (stage, blocks), 1, Some((stage, tiles)))
    })
}
