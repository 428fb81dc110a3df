//! A sum over blocks of sums over what a block has: products with a weight of few bits, whose scales are one a block.
//!
//!     for m, n, b  for j  p[m, n, b] += s[m, b, j] float(w[n, b, j])        for no  for mo  for m, n in a tile  for b
//!     for m, n  for b  y[m, n] += f(p[m, n, b])                        =>     p = 0 ; for j  p += s[m, b, j] float(w[n, b, j])
//!                                                                             y += f(p)
//!
//! Both sums of an element of the tile are registers, so that a tile has half of those of a plain product. Vectors go along columns, for
//! which weight and scales lie in panels; what is made of a word of the weight is made once for all rows of a tile. Of few rows the time is that in which
//! the weight comes from memory: later words are prefetched, as a core's own prefetcher stops at each page.

use super::contraction::{panels, split_above};
use crate::auto_schedule::kind::{About, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_machine::Machine;
use std::collections::BTreeMap;

const BYTES: u64 = 4;
/// Vectors of a tile take one of so many parts of the registers: rows of them need the rest.
const OF_REGISTERS: u64 = 4;
/// Registers beside sums and vectors of the weight.
const OTHERS: u64 = 2;
/// Steps inside a block that are written out.
const MOST_WRITTEN_OUT: u64 = 16;
/// Cycles of a step beside its arithmetic.
const STEP: f64 = 0.25;
/// Bytes that are prefetched.
const AHEAD: u64 = 4 << 10;

/// The kind.
pub struct SumsOfBlocks;

impl Kind for SumsOfBlocks {
    fn about(&self) -> About {
        About {
            name: "sums-of-blocks",
            matches: "a sum over blocks of what is made of their sums of products with a constant",
            knobs: &[("vectors", "vectors of a tile"), ("rows", "rows of a tile")],
            formula: "steps x tiles x (the most of multiply-adds, their latency, and all operations), and what is made of the sums of blocks",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().filter_map(|nest| Blocks::of(tree, nest, kernel)))
    }
}

/// The two sums.
struct Blocks {
    nest: Nest,
    /// The sum over blocks, and that of each.
    sum: StageId,
    block: StageId,
    /// The axis of columns, and that of rows.
    columns: (usize, u64),
    rows: Option<(usize, u64)>,
    /// Results of both sums.
    results: u64,
    /// Blocks, and steps of each.
    blocks: u64,
    steps: u64,
    lanes: u64,
    /// Operations in which a vector of the weight is made.
    unpacking: f64,
    /// Operations that are made of the sum of a block.
    finishing: f64,
}

/// A tile of registers.
#[derive(Clone, Copy)]
struct Tile {
    vectors: u64,
    rows: u64,
}

impl Blocks {
    fn of(tree: &Schedule, nest: &Nest, kernel: &Kernel) -> Option<Blocks> {
        let sum = nest.reduction.unwrap_or(nest.stage);
        let s = &tree.stages[sum];
        let rank = s.rank();
        let (own, over) = s.extents().split_at_checked(rank).map(|(a, b)| (a.to_vec(), b.to_vec()))?;
        let (&[blocks], Some(&columns), true) = (&over[..], own.last(), s.is_reduction()) else {
            return None;
        };
        let read = operands(tree, sum)?;
        let at_its_place = |o: &Operand| {
            let place = own.iter().chain(&over).enumerate().map(|(axis, n)| Expr::var(axis, *n));
            o.indices.iter().cloned().eq(place)
        };
        let block = read.iter().find(|o| o.stage.is_some() && at_its_place(o))?.stage?;
        let is_alone = kernel.nests.iter().any(|n| n.stage == block && n.reduction.is_none());
        let b = &tree.stages[block];
        if !is_alone || !b.is_reduction() || tree.readers(block) != [sum] || tree.results.contains(&block) {
            return None;
        }
        let factors = operands(tree, block)?;
        let vector = rank - 1;
        let [weight] = factors.iter().filter(|o| o.mentions(vector)).collect::<Vec<_>>()[..] else {
            return None;
        };
        if factors.len() != 2
            || !weight.is_constant(kernel.constant)
            || weight.dimension(vector, columns).is_none()
        {
            return None;
        }
        let data = factors.iter().find(|o| !o.mentions(vector))?;
        let is_row = |axis: &usize| data.mentions(*axis) && !weight.mentions(*axis) && own[*axis] > 1;
        let rows = (0..vector).filter(is_row).max_by_key(|&axis| own[axis]).map(|axis| (axis, own[axis]));
        let operations = |stage| traffic::operations_of_a_point(tree, stage);
        Some(Blocks {
            nest: *nest,
            sum,
            block,
            columns: (vector, columns),
            rows,
            results: own.iter().product(),
            blocks,
            steps: b.extents()[b.rank()..].iter().product(),
            lanes: kernel.machine.lanes(BYTES).min(columns),
            // A multiplication and an addition are one operation.
            unpacking: UNPACKING.min(operations(block)),
            finishing: operations(sum),
        })
    }

    /// True where the stage that has the loops goes over the same elements as the sum.
    fn is_hosted(&self, tree: &Schedule) -> bool {
        let (host, sum) = (&tree.stages[self.nest.stage], &tree.stages[self.sum]);
        self.nest.stage != self.sum && host.extents()[..host.rank()] == sum.extents()[..sum.rank()]
    }

    fn tiles(&self, machine: &Machine) -> impl Iterator<Item = Tile> {
        let most_vectors = self.columns.1.div_ceil(self.lanes).min(machine.registers / OF_REGISTERS);
        let most_rows = self.rows.map_or(1, |(_, n)| n).min(machine.registers / 2);
        let all = (1..=most_vectors)
            .flat_map(move |vectors| (1..=most_rows).map(move |rows| Tile { vectors, rows }));
        let registers = machine.registers;
        all.filter(move |t| 2 * t.vectors * t.rows + t.vectors + OTHERS <= registers)
    }

    /// Cycles of one core.
    fn cycles(&self, tile: Tile, machine: &Machine) -> f64 {
        let (vectors, rows) = (tile.vectors as f64, tile.rows as f64);
        let (sums, begin) =
            (machine.multiply_adds as f64, (machine.multiply_adds + machine.additions) as f64);
        let step = |rows: f64| {
            let operations = (vectors * (rows + self.unpacking)) / begin;
            operations.max(vectors * rows / sums).max(machine.latency as f64).max(rows / machine.loads as f64)
                + STEP
        };
        let block = |rows: f64| self.steps as f64 * step(rows) + vectors * rows * self.finishing / sums;
        let (_, columns) = self.columns;
        let across = columns.div_ceil(tile.vectors * self.lanes) as f64;
        let all_rows = self.rows.map_or(1, |(_, n)| n);
        let (whole, rest) = (all_rows / tile.rows, all_rows % tile.rows);
        let column = whole as f64 * block(rows) + if rest > 0 { block(rest as f64) } else { 0.0 };
        let others = self.results / (columns * all_rows);
        across * column * self.blocks as f64 * others as f64
    }

    /// Has what is constant and goes along columns lie in panels of a tile.
    fn lay_out(&self, writer: &mut Writer, constant: &[bool], width: u64) -> Result<(), String> {
        let mut wanted: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for stage in [self.block, self.sum] {
            for operand in operands(&writer.tree, stage).unwrap_or_default() {
                let dimension = operand.dimension(self.columns.0, self.columns.1);
                if let (Some(input), Some(dimension), true) =
                    (operand.input, dimension, operand.is_constant(constant))
                {
                    wanted.insert(input, (operand.shape.len(), dimension));
                }
            }
        }
        wanted.into_iter().try_for_each(|(input, (rank, dimension))| {
            writer.transform_layout(Handle::Input(input), panels(rank, dimension, width)?)
        })
    }

    fn write(&self, writer: &mut Writer, kernel: &Kernel, tile: Tile) -> Result<(), String> {
        let width = (tile.vectors * self.lanes).min(self.columns.1);
        self.lay_out(writer, kernel.constant, width)?;
        let host = if self.is_hosted(&writer.tree) { self.nest.stage } else { self.sum };
        let rank = writer.tree.stages[host].rank();
        let axes: Vec<AxisId> = writer.tree.stages[host].leaves[..rank].to_vec();
        let (panel, inside) = split_above(writer, host, axes[self.columns.0], width)?;
        let mut register = Vec::new();
        let mut tiles = None;
        if let Some((rows, _)) = self.rows {
            let (outer, inner) = split_above(writer, host, axes[rows], tile.rows)?;
            writer.unroll(host, inner)?;
            register.push(inner);
            tiles = outer;
        }
        let (copies, vector) = split_above(writer, host, inside, self.lanes)?;
        if let Some(copies) = copies {
            writer.unroll(host, copies)?;
            register.push(copies);
        }
        writer.vectorize(host, vector)?;
        register.push(vector);
        let is_other =
            |axis: &usize| *axis != self.columns.0 && self.rows.is_none_or(|(rows, _)| rows != *axis);
        let others = (0..rank).filter(is_other).map(|axis| axes[axis]);
        let mut order: Vec<AxisId> = panel.into_iter().chain(others).chain(tiles).chain(register).collect();
        let own = writer.tree.stages[host].leaves.clone();
        order.extend(own.iter().filter(|&&l| writer.tree.stages[host].axes[l].reduce));
        if order != own {
            writer.reorder(host, &order)?;
        }
        if host != self.sum {
            writer.compute_at(self.sum, host, vector)?;
        }
        let over = writer.tree.stages[self.sum].rank();
        writer.compute_at(self.block, self.sum, over)?;
        self.write_block(writer, kernel.machine, width)
    }

    /// Writes the innermost steps of a block out, and has the others prefetch later ones.
    fn write_block(&self, writer: &mut Writer, machine: &Machine, width: u64) -> Result<(), String> {
        let s = &writer.tree.stages[self.block];
        let steps: Vec<(AxisId, u64)> =
            (s.rank()..s.op_axes()).map(|axis| (axis, s.axes[axis].extent)).collect();
        let (mut written_out, mut left) = (1, steps.len());
        while left > 0 && written_out * steps[left - 1].1 <= MOST_WRITTEN_OUT {
            left -= 1;
            written_out *= steps[left].1;
            writer.unroll(self.block, steps[left].0)?;
        }
        let serial = steps[..left].iter().rev().find(|(_, n)| *n > 1);
        let factors = operands(&writer.tree, self.block).unwrap_or_default();
        let weight = factors.iter().find(|o| o.mentions(self.columns.0)).and_then(|o| o.input);
        match (serial, weight, machine.constant_bytes) {
            (Some(&(axis, _)), Some(weight), Some(_)) => {
                writer.prefetch(Handle::Input(weight), self.block, axis, AHEAD.div_ceil(width * BYTES))
            }
            _ => Ok(()),
        }
    }
}

/// Operations in which a vector of a weight of few bits is made: what leaves out other numbers, and a conversion.
const UNPACKING: f64 = 2.0;

impl Match for Blocks {
    fn nests(&self) -> Vec<StageId> {
        vec![self.block, self.nest.stage]
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let most = |of: fn(&Tile) -> u64| self.tiles(kernel.machine).map(|t| of(&t)).max().unwrap_or(1);
        let to = |name, n: u64| Knob { name, values: (1..=n as i64).collect() };
        vec![to("vectors", most(|t| t.vectors)), to("rows", most(|t| t.rows))]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let &[vectors, rows] = config else { return None };
        let asked = (u64::try_from(vectors).ok()?, u64::try_from(rows).ok()?);
        let tile = self.tiles(kernel.machine).find(|t| (t.vectors, t.rows) == asked)?;
        let epilogue = traffic::epilogue(tree, &self.nest, kernel);
        let cycles = self.cycles(tile, kernel.machine) + epilogue;
        Some(traffic::seconds(tree, kernel, &self.nests(), cycles))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let &[vectors, rows] = config else { return Err("has no such tile".into()) };
        self.write(writer, kernel, Tile { vectors: vectors as u64, rows: rows as u64 })?;
        match self.nest.reduction {
            Some(_) if !self.is_hosted(&writer.tree) => {
                super::columns::go_on(writer, &self.nest, kernel.machine)
            }
            _ => Ok(()),
        }
    }
}
