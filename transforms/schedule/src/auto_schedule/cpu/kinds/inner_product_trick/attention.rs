//! Attention, both of whose products are by the inner-product trick: a block of rows of scores at a time.
//!
//!     for b  sides of k[b] and v[b]              divided, in panels as wide as tiles
//!       for io                                    a block of rows, whose scores and weights the second cache holds
//!         side of q[io]
//!         t = f(p)                                tiles, as in any product by the inner-product trick
//!         m = max t ; e = exp(t - m) ; z, own of e
//!         y[io] = f(p, own, z)                    tiles
//!
//! (`attention` has the schedule for products as they are.)

use super::places::in_vectors;
use super::{BYTES, Tile, cycles, split, steps};
use crate::auto_schedule::cpu::kinds::contraction;
use crate::auto_schedule::kind::{Kernel, Match, Seconds};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_machine::Machine;

/// What the scores and weights of a block of rows may take of the second cache.
const BLOCK_BYTES: u64 = 256 << 10;
/// Tiles of a block at most.
const TILES: u64 = 8;

/// A product by the inner-product trick of two sides that are stages.
struct Product {
    stage: StageId,
    /// The side that its columns are of.
    right: Operand,
}

/// The nests of an attention.
pub(super) struct Attention {
    host: StageId,
    values: Product,
    scores: StageId,
    keys: Product,
    /// The others, in program order.
    others: Vec<StageId>,
}

impl Product {
    fn of(tree: &Schedule, stage: StageId) -> Option<Product> {
        let s = &tree.stages[stage];
        let last = s.rank().checked_sub(1)?;
        let read = operands(tree, stage)?;
        let is_stage = |o: &Operand| o.stage.is_some();
        let right = read.iter().find(|o| o.mentions(last))?.clone();
        let sides = read.iter().filter(|o| o.stage == right.stage).count();
        // Six of either side.
        let is_pair = read.iter().all(is_stage) && read.len() == 2 * sides && sides > 1 && s.is_reduction();
        is_pair.then_some(Product { stage, right })
    }

    /// The stages of its right side: that, what that reads, and what else reads it.
    fn side(&self, tree: &Schedule) -> Vec<StageId> {
        let Some(right) = self.right.stage else { return Vec::new() };
        let is_read = |s: &StageId| tree.readers(*s).contains(&right);
        let own = tree.readers(right).into_iter().filter(|s| *s != self.stage);
        let read = (0..tree.stages.len()).filter(is_read);
        read.chain([right]).chain(own).collect()
    }
}

/// The attention that a kernel is, if it is one.
pub(super) fn find(tree: &Schedule, nests: &[Nest]) -> Option<Attention> {
    let (host, before) = nests.split_last()?;
    let values = Product::of(tree, host.reduction?)?;
    let mut with = before.iter().filter_map(|n| Some((n.stage, Product::of(tree, n.reduction?)?)));
    let ((scores, keys), None) = (with.next()?, with.next()) else { return None };
    let others = before.iter().filter(|n| n.stage != scores);
    let alone = others.clone().all(|n| n.reduction.is_none());
    let rank = |s: StageId| tree.stages[s].rank();
    let alike = [host.stage, values.stage, scores, keys.stage].iter().all(|s| rank(*s) == rank(scores));
    let is_one = alone && alike && rank(scores) >= 2 && tree.results == [host.stage];
    let others = others.map(|n| n.stage).collect();
    is_one.then_some(Attention { host: host.stage, values, scores, keys, others })
}

impl Match for Attention {
    fn nests(&self) -> Vec<StageId> {
        self.others.iter().copied().chain([self.scores, self.host]).collect()
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let of = |stage: StageId, product: StageId| {
            let extents = tree.stages[stage].extents();
            let last = [extents[extents.len() - 2], extents[extents.len() - 1]];
            cycles(&extents, last, steps(tree, product), kernel.machine)
        };
        let products = of(self.scores, self.keys.stage) + of(self.host, self.values.stage);
        let beside =
            self.nests().into_iter().map(|stage| traffic::in_vectors(tree, stage, kernel)).sum::<f64>();
        Some(traffic::seconds(tree, kernel, &self.nests(), products + beside))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        schedule(writer, self, kernel.machine)
    }
}

/// Writes the schedule.
fn schedule(writer: &mut Writer, group: &Attention, machine: &Machine) -> Result<(), String> {
    let lanes = machine.lanes(BYTES);
    let rank = writer.tree.stages[group.host].rank();
    let extents = writer.tree.stages[group.scores].extents();
    let (queries, keys) = (extents[rank - 2], extents[rank - 1]);
    let columns = writer.tree.stages[group.host].extents()[rank - 1];
    let [of_scores, of_values] = [keys, columns].map(|columns| Tile::of([queries, columns], machine));
    // A block is whole tiles of either product.
    let height = of_scores.rows.min(of_values.rows);
    let [of_scores, of_values] = [of_scores, of_values].map(|tile| (Tile { rows: height, ..tile }, machine));
    let rows = height * (BLOCK_BYTES / (2 * BYTES * keys * height)).clamp(1, TILES);

    let lead: Vec<AxisId> = writer.tree.stages[group.host].leaves[..rank - 2].to_vec();
    let whole = lead.iter().rev().find(|&&a| writer.tree.stages[group.host].axes[a].extent > 1).copied();
    let row = writer.tree.stages[group.host].leaves[rank - 2];
    let (blocks, row) = writer.split(group.host, row, rows)?;
    tile(writer, (group.host, group.values.stage), &[&lead[..], &[blocks]].concat(), row, of_values)?;
    let axes: Vec<AxisId> = writer.tree.stages[group.scores].leaves.clone();
    tile(writer, (group.scores, group.keys.stage), &axes[..rank - 2], axes[rank - 2], of_scores)?;

    let [keys_side, values_side] = [&group.keys, &group.values].map(|product| product.side(&writer.tree));
    if let Some(values) = group.values.right.stage {
        writer.transform_layout(
            Handle::Stage(values),
            contraction::panels(rank, rank - 1, of_values.0.columns(machine))?,
        )?;
    }
    // What reads a stage is put inside before it.
    let mut stages = [&group.others[..], &[group.scores]].concat();
    stages.sort_unstable_by_key(|s| writer.tree.in_order().iter().position(|at| at == s));
    for &stage in stages.iter().rev() {
        let is_whole = keys_side.contains(&stage) || values_side.contains(&stage);
        let at = if is_whole { whole } else { Some(blocks) };
        if let Some(at) = at {
            writer.compute_at(stage, group.host, at)?;
        }
        if stage == group.scores {
            let columns = of_scores.0.columns(machine);
            contraction::copy_panels_at(writer, (group.host, whole), &group.keys.right, rank - 2, columns)?;
        }
    }
    for &stage in &group.others {
        let is_reduction = writer.tree.stages[stage].is_reduction();
        match is_reduction {
            true if values_side.contains(&stage) => in_vectors(writer, stage, lanes)?,
            true => reductions::vectorize(writer, stage, machine.vector_bytes)?,
            false => {
                let axes = writer.tree.stages[stage].leaves.clone();
                let (outer, vector) = writer.split(stage, axes[rank - 1], lanes)?;
                writer.vectorize(stage, vector)?;
                if values_side.contains(&stage) {
                    writer.reorder(stage, &[&axes[..rank - 2], &[outer, axes[rank - 2], vector]].concat())?;
                }
            }
        }
    }
    Ok(())
}

/// Tiles a stage, and has its product be made in each vector.
fn tile(
    writer: &mut Writer,
    (stage, product): (StageId, StageId),
    outside: &[AxisId],
    row: AxisId,
    with: (Tile, &Machine),
) -> Result<(), String> {
    let column = writer.tree.stages[stage].leaves.last().copied().unwrap_or_default();
    let tiled = split(writer, stage, [row, column], with)?;
    writer.reorder(stage, &[outside, &[tiled.panels, tiled.tiles], &tiled.inside].concat())?;
    super::attach(writer, product, (stage, &tiled))
}
