//! How the loops of a nest are tiled, unrolled and vectorized.
//!
//!     for i, j { acc = for k ... ; y[i, j] = epilogue(acc) }
//!  =>
//!     for io, jo { for ii (unrolled) for ju (unrolled) for jv (vectorized) { acc = for k ... } }
//!
//! The innermost axis is vectorized when every access is contiguous or constant along it; axes that are contiguous
//! together are fused first. A reduction keeps `rows x vectors` accumulators in registers: rows along the axis in which the
//! vectorized operands are reused.

use crate::auto_schedule::accesses::{lanes, offsets};
use crate::auto_schedule::cpu::{choices, iterated};
use crate::auto_schedule::fusion::{along_fused, fusable, fuse_last};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::auto_schedule::{reductions, traffic};
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_machine::Machine;

/// The kind.
pub struct Tiling;

/// Elements so far apart are still loaded whole and shuffled.
const MOST_APART: i64 = 4;
/// Shorter axes fill no vector.
const FEWEST: u64 = 4;
/// Vectors of a tile, at most.
const MOST_VECTORS: u64 = 4;
/// Rows of a tile whose vectors are so many: six of four, with the operands, fill 32 registers.
const ROWS_OF_WIDE: u64 = 6;
/// Rows of the others.
const ROWS: u64 = 8;
/// Cycles of a step of a reduction beside its arithmetic: the loop, and what the out-of-order window does not hide.
const STEP: f64 = 0.5;
/// Cycles to add the lanes of a sum.
const ACROSS: f64 = 8.0;

impl Kind for Tiling {
    fn about(&self) -> About {
        About {
            name: "tiling",
            matches: "any nest",
            knobs: &[("rows", "rows of a tile"), ("vectors", "vectors of a tile")],
            formula: "tiles x (the most of multiply-adds, their latency and loads), or points where vectors find no axis",
            keeps_order: true,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().map(|nest| Tiled { nest: *nest, plan: plan(tree, nest, kernel.machine) }))
    }
}

struct Tiled {
    nest: Nest,
    plan: Plan,
}

impl Match for Tiled {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let Some(tile) = &self.plan.tile else { return Vec::new() };
        let most = (kernel.machine.registers / 2).max(1);
        let extents = tree.stages[self.nest.stage].extents();
        let rows = tile.row.map_or(1, |row| extents[row].min(most));
        let vectors = if self.plan.reduces { (self.plan.extent / tile.lanes).clamp(1, most) } else { 1 };
        let to = |name, n: u64| Knob { name, values: (1..=n as i64).collect() };
        vec![to("rows", rows), to("vectors", vectors)]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let plan = self.plan.with(config);
        let cycles = plan.cycles(tree, &self.nest, kernel);
        Some(traffic::seconds(tree, kernel, &[self.nest.stage], cycles))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let config = self.plan.tile.as_ref().map_or(Vec::new(), |t| vec![t.rows as i64, t.vectors as i64]);
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        self.plan.with(config).write(writer, &self.nest, kernel.machine)
    }
}

/// Writes the primitives of a nest as it is found.
pub fn tile(writer: &mut Writer, nest: &Nest, machine: &Machine) -> Result<(), String> {
    plan(&writer.tree, nest, machine).write(writer, nest, machine)
}

/// What is decided of a nest.
#[derive(Clone)]
struct Plan {
    /// Where each access is.
    accesses: Vec<Option<Expr>>,
    extents: Vec<u64>,
    reduces: bool,
    /// Number of the last axes that are one loop, and its extent.
    together: usize,
    extent: u64,
    /// Steps of each access along that loop.
    along: Vec<Option<i64>>,
    /// Its tile in registers; none where vectors are along memory, or where there are none.
    tile: Option<Tile>,
}

#[derive(Clone)]
struct Tile {
    row: Option<AxisId>,
    rows: u64,
    /// Elements of what is computed together, which is several registers where there is no reduction.
    lanes: u64,
    vectors: u64,
}

fn plan(tree: &Schedule, nest: &Nest, machine: &Machine) -> Plan {
    let stage = nest.stage;
    let rank = tree.stages[stage].rank();
    let accesses = offsets(tree, stage, nest.reduction);
    let reduces = nest.reduction.is_some() || tree.stages[stage].is_reduction();
    let extents: Vec<u64> = tree.stages[stage].axes[..rank].iter().map(|a| a.extent).collect();
    let together = if rank == 0 { 0 } else { fusable(&accesses, &extents) };
    let extent: u64 = extents[rank - together..].iter().product();
    let along = along_fused(&accesses, &extents, together);
    let mut plan = Plan { accesses, extents, reduces, together, extent, along, tile: None };
    if rank > 0 {
        plan.tile = plan.tile_of(tree, nest, machine);
    }
    plan
}

impl Plan {
    fn tile_of(&self, tree: &Schedule, nest: &Nest, machine: &Machine) -> Option<Tile> {
        let (stage, along) = (nest.stage, &self.along);
        let first_fused = self.extents.len() - self.together;
        let contiguous = along.iter().all(|c| matches!(c, Some(0 | 1)));
        let row =
            self.reduces.then(|| row_axis(&self.accesses, along, &self.extents[..first_fused])).flatten();
        // Operands that are gathered (a strided convolution's data) are worth it where each is used for several rows.
        let gathered = row.is_some() && matches!(along[0], Some(0 | 1)) && along.iter().all(Option::is_some);
        // Elements a few places apart are loaded whole and shuffled, where those between them are not read as well.
        let apart = nest.reduction.unwrap_or(stage);
        let near = matches!(along[0], Some(0 | 1))
            && along.iter().all(|c| matches!(c, Some(0..=MOST_APART)))
            && !(self.reduces && !machine.in_order && reductions::reads_once(tree, apart));
        if !(contiguous || gathered || near) || self.extent < FEWEST {
            return None;
        }
        let mut lanes = lanes(tree, stage, machine.vector_bytes).min(self.extent);
        if !self.reduces {
            let reads = along[1..].iter().filter(|c| **c != Some(0)).count() as u64;
            lanes *= match self.extent / lanes {
                // Two and what is left over behind them take longer than three.
                0 | 1 | 3 => 1,
                most => iterated::registers(tree, stage, reads, machine).min(most),
            };
        }
        let vectors = match self.extent / lanes {
            _ if !self.reduces => 1,
            n if n >= MOST_VECTORS && row.is_some() => MOST_VECTORS,
            n if n >= 2 => 2,
            _ => 1,
        };
        let rows = row.map_or(1, |row| rows(self.extents[row], vectors));
        Some(Tile { row, rows, lanes, vectors })
    }

    /// The same with the numbers of a config.
    fn with(&self, config: &[i64]) -> Plan {
        let mut plan = self.clone();
        if let (Some(tile), &[rows, vectors]) = (&mut plan.tile, config) {
            (tile.rows, tile.vectors) = (rows.max(1) as u64, vectors.max(1) as u64);
        }
        plan
    }

    /// Cycles of one core.
    fn cycles(&self, tree: &Schedule, nest: &Nest, kernel: &Kernel) -> f64 {
        let machine = kernel.machine;
        let inside = nest.reduction.unwrap_or(nest.stage);
        let (points, operations) =
            (traffic::points(tree, inside), traffic::operations_of_a_point(tree, inside).max(1.0));
        let epilogue = traffic::epilogue(tree, nest, kernel);
        let results: f64 = self.extents.iter().map(|&n| n as f64).product();
        let lanes = traffic::lanes(tree, inside, kernel);
        let each = |multiply_adds: f64| multiply_adds / machine.multiply_adds as f64;
        let Some(tile) = &self.tile else {
            let in_lanes = self.reduces && !machine.in_order && reductions::fits_lanes(tree, inside);
            return epilogue
                + match in_lanes {
                    true => points / lanes * operations.max(1.0) + results * ACROSS,
                    false if self.reduces => points * operations.max(machine.latency as f64),
                    false => points * operations.max(self.along.len() as f64 / machine.loads as f64),
                };
        };
        // Loads of a step of a tile: those that go along a vector have all of them, those that go along the rows all rows.
        let (vectors, rows) = (tile.vectors as f64, tile.rows as f64);
        let registers = (tile.lanes as f64 / lanes).max(1.0);
        let loads = |(access, along): (&Option<Expr>, &Option<i64>)| {
            let by_row = access.as_ref().is_none_or(|e| tile.row.is_some_and(|row| e.mentions(row)));
            let of_vector = match along {
                Some(0) => 1.0,
                Some(1) => vectors * registers * traffic::LINES,
                Some(apart @ 2..=MOST_APART) => vectors * registers * (traffic::LINES + *apart as f64),
                _ => vectors * registers * lanes,
            };
            of_vector * if by_row { rows } else { 1.0 }
        };
        let loads: f64 = self.accesses.iter().zip(&self.along).skip(1).map(loads).sum::<f64>();
        let of_tile = rows * vectors * registers;
        let columns = (self.extent as f64 / (tile.lanes as f64 * vectors)).ceil();
        let above = tile.row.map_or(1.0, |row| (self.extents[row] as f64 / rows).ceil());
        let first = self.extents.len() - self.together;
        let others: f64 =
            (0..first).filter(|&a| Some(a) != tile.row).map(|a| self.extents[a] as f64).product();
        let tiles = columns * above * others;
        let depth = (points / results.max(1.0)).max(1.0);
        match self.reduces {
            true => {
                let latency = machine.latency as f64;
                // Accumulators that registers do not hold are loaded and stored in each step.
                let spilled = (of_tile - machine.registers as f64).max(0.0);
                let loads = loads + 2.0 * spilled;
                let step = each(operations * of_tile).max(loads / machine.loads as f64).max(latency);
                tiles * depth * (step + STEP) + epilogue
            }
            false => tiles * (operations * of_tile).max(loads / machine.loads as f64),
        }
    }

    /// Writes the primitives.
    fn write(&self, writer: &mut Writer, nest: &Nest, machine: &Machine) -> Result<(), String> {
        let (stage, rank) = (nest.stage, self.extents.len());
        if rank == 0 {
            return along_memory(writer, nest, None, machine);
        }
        let inner = fuse_last(writer, stage, rank, self.together)?;
        let first_fused = rank - self.together;
        let Some(tile) = &self.tile else { return along_memory(writer, nest, Some(inner), machine) };
        let (lanes, vectors) = (tile.lanes, tile.vectors);
        let mut order: Vec<AxisId> = writer.tree.stages[stage].leaves[..first_fused].to_vec();
        let mut register: Vec<AxisId> = Vec::new();
        if let Some(row) = tile.row {
            let (outer, inner) = writer.split(stage, row, tile.rows)?;
            let place = order.iter().position(|&a| a == row).unwrap_or(0);
            order[place] = outer;
            register.push(inner);
            writer.unroll(stage, inner)?;
        }
        let vector = if self.extent > lanes {
            let (outer, block) = writer.split(stage, inner, lanes * vectors)?;
            order.push(outer);
            if vectors > 1 {
                let (copies, vector) = writer.split(stage, block, lanes)?;
                writer.unroll(stage, copies)?;
                register.push(copies);
                vector
            } else {
                block
            }
        } else {
            inner
        };
        writer.vectorize(stage, vector)?;
        if let Some(choice) = choices::find(&writer.tree, nest, &self.accesses, first_fused) {
            order.retain(|&axis| axis != choice);
            register.push(choice);
            writer.unroll(stage, choice)?;
        }
        register.push(vector);
        order.extend(register);
        // Reduction loops of the stage itself stay innermost.
        let own = writer.tree.stages[stage].leaves.clone();
        order.extend(own.into_iter().filter(|&l| writer.tree.stages[stage].axes[l].reduce));
        if order != writer.tree.stages[stage].leaves {
            writer.reorder(stage, &order)?;
        }
        attach(writer, nest, Some(vector))
    }
}

/// Without vectors along the result, a reduction has them along what it combines, unless it keeps its order.
fn along_memory(
    writer: &mut Writer,
    nest: &Nest,
    innermost: Option<AxisId>,
    machine: &Machine,
) -> Result<(), String> {
    attach(writer, nest, innermost)?;
    match machine.in_order {
        true => Ok(()),
        false => reductions::alone(writer, nest.reduction.unwrap_or(nest.stage), machine.vector_bytes),
    }
}

/// Puts the reduction into the innermost loop.
fn attach(writer: &mut Writer, nest: &Nest, innermost: Option<AxisId>) -> Result<(), String> {
    match (nest.reduction, innermost) {
        (Some(reduction), Some(axis)) => writer.compute_at(reduction, nest.stage, axis),
        _ => Ok(()),
    }
}

/// The axis along which an operand that varies in the vectors is reused; the longest of them.
fn row_axis(accesses: &[Option<Expr>], along: &[Option<i64>], extents: &[u64]) -> Option<AxisId> {
    // The first access is the store.
    let vectors =
        || accesses.iter().zip(along).skip(1).filter(|(_, c)| **c != Some(0)).filter_map(|(e, _)| e.as_ref());
    let reused = |axis: usize| vectors().any(|e| !e.mentions(axis));
    (0..extents.len()).filter(|&a| extents[a] > 1 && reused(a)).max_by_key(|&a| (extents[a], a))
}

/// Rows of a register tile: a divisor near the best, so that little is left over.
fn rows(extent: u64, vectors: u64) -> u64 {
    let best = if vectors >= MOST_VECTORS { ROWS_OF_WIDE } else { ROWS };
    if extent <= best {
        return extent;
    }
    (best - 2..=best).rev().find(|&n| extent.is_multiple_of(n)).unwrap_or(best)
}
