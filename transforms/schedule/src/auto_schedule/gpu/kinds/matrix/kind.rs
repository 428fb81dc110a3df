//! The kind of products by matrix instructions: what it matches, how long it takes, and whether blocks share what is summed up.

use super::sizes::{self, Extents};
use super::waves::{Role, Shares, Work};
use super::write::{self, Wanted};
use super::{Product, Tile, best, find};
use crate::auto_schedule::gpu::launch;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::Operand;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::intrinsics::Facts;
use crate::schedule::primitives::{divide, recompute, rfactor};
use crate::schedule::{Attach, AxisId, Schedule, StageId};
use fusion_machine::Target;

/// The kind.
pub struct ByMatrices;

impl Kind for ByMatrices {
    fn about(&self) -> About {
        About {
            name: "matrix",
            matches: "a sum of products that an instruction computes: matrix products and convolutions",
            knobs: &[
                (
                    "parts",
                    "parts of what is summed up, each by a block of its own; 0 where only the last wave of tiles is cut",
                ),
                ("rows", "rows of a block's tile, of products that are no convolutions"),
                ("columns", "columns of that tile"),
            ],
            formula: "waves x (depth + begin and end) x the most of multiplying and copying; a launch that adds up parts",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let products = find(tree, kernel).unwrap_or_default();
        let found = |product: Product| {
            let nest = kernel.nests.iter().find(|n| n.reduction.unwrap_or(n.stage) == product.reduction)?;
            let known = Shared::of(tree, nest, &product).filter(|_| is_one(tree, nest, &product))?;
            Some(Multiplies { nest: *nest, product, known })
        };
        all(products.into_iter().filter_map(found))
    }
}

/// A product and what is known of its extents.
struct Multiplies {
    nest: Nest,
    product: Product,
    known: Shared,
}

impl Match for Multiplies {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn copies(&self) -> Vec<StageId> {
        self.product.sources.clone()
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let streamed = self.streamed(kernel.target).map(|_| 0);
        let work = self.known.work();
        let parts = work.parts(kernel.target).map(|n| n as i64);
        let mut all = vec![Knob { name: "parts", values: streamed.into_iter().chain(parts).collect() }];
        if self.has_tile() {
            let tiles = sizes::tiles(self.known.extents.depth, &self.known.facts, kernel.target);
            let side = |name, of: fn(&Tile) -> u64| {
                let mut values: Vec<i64> = tiles.iter().map(|(_, tile, _)| of(tile) as i64).collect();
                values.sort_unstable();
                values.dedup();
                Knob { name, values }
            };
            all.extend([side("rows", |tile| tile.rows), side("columns", |tile| tile.columns)]);
        }
        all
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let (parts, tile) = parts_and_tile(config)?;
        let (work, target) = (self.known.work(), kernel.target);
        let multiplying = match parts {
            // Both launches have tiles of their own, so that one config stands for all.
            0 if tile.is_some() && self.tile(0, target) != tile => return None,
            0 => self.streamed(target).map(|(_, seconds)| seconds)?,
            parts => work.seconds(parts, tile, target)?,
        };
        let stages: Vec<StageId> = traffic::stages_of(&self.nest).collect();
        let moving: f64 = traffic::moved(tree, &stages).into_iter().map(|b| launch::moving(b, target)).sum();
        Some(target.kernel_call + launch::LATENCY + multiplying.max(moving))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let (work, target) = (self.known.work(), kernel.target);
        let parts = match work.shares(target) {
            None => 1,
            Some((Shares::Split(parts), _)) => parts,
            Some((Shares::Streamed { .. }, _)) => 0,
        };
        let mut config = vec![parts as i64];
        if self.has_tile() {
            config.extend(self.tile(parts, target)?.map(|side| side as i64));
        }
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let (parts, tile) = parts_and_tile(config).ok_or("has a product without a config")?;
        let (nest, product, target) = (&self.nest, &self.product, kernel.target);
        let wanted = Wanted { tile, target };
        match (parts, self.streamed(target)) {
            (0, Some(((axis, at, parts), _))) => {
                let wanted = Wanted { tile: None, target };
                write::streamed(writer, nest, product, ((axis, at), (self.known.axis, parts)), &wanted)
            }
            (..=1, _) => write::whole(writer, nest, product, &wanted),
            (parts, _) => write::in_parts(writer, nest, product, (self.known.axis, parts), &wanted),
        }
    }
}

/// The number of parts of a config, and the rows and columns of its tile.
fn parts_and_tile(config: &[i64]) -> Option<(u64, Option<[u64; 2]>)> {
    let number = |n: i64| u64::try_from(n).ok();
    match *config {
        [parts] => Some((number(parts)?, None)),
        [parts, rows, columns] => Some((number(parts)?, Some([number(rows)?, number(columns)?]))),
        _ => None,
    }
}

impl Multiplies {
    /// Whether it is known which tiles there are: those of windows follow from how they are copied.
    fn has_tile(&self) -> bool {
        self.product.windows.is_none()
    }

    /// Rows and columns of the tile that takes least, with so many parts.
    fn tile(&self, parts: u64, target: &Target) -> Option<[u64; 2]> {
        let whole = self.known.extents;
        let parts = parts.max(1);
        let extents = Extents { depth: whole.depth / parts, others: whole.others * parts, ..whole };
        let (_, tile, _) = sizes::sizes(&extents, &self.known.facts, target, None)?;
        Some([tile.rows, tile.columns])
    }

    /// How the last wave of tiles is cut, where that takes less time: the axis, the place on it, the parts; and seconds of all.
    fn streamed(&self, target: &Target) -> Option<((AxisId, u64, u64), Seconds)> {
        match self.known.work().shares(target)? {
            (Shares::Streamed { axis, at, parts }, seconds) => Some(((axis, at, parts), seconds)),
            (Shares::Split(_), _) => None,
        }
    }
}

/// True where a product's stage goes on with its sums as they are, and its operands are tensors.
fn is_one(tree: &Schedule, nest: &Nest, product: &Product) -> bool {
    let axes = |stage: StageId| {
        let s = &tree.stages[stage];
        s.axes[..s.rank()].iter().map(|a| a.extent).collect::<Vec<u64>>()
    };
    let inlined =
        |operand: &Operand| operand.stage.is_some_and(|stage| tree.stages[stage].attach == Attach::Inline);
    let plain = || {
        let found = best(tree, product.reduction, &product.facts);
        found.is_some_and(|(found, _)| !found.operands.iter().any(inlined))
    };
    axes(nest.stage) == axes(product.reduction) && (product.windows.is_some() || plain())
}

/// What is known of a product before it is one of matrices.
struct Shared {
    /// The axis of what is summed up that blocks may share.
    axis: AxisId,
    /// Its extent.
    extent: u64,
    facts: Vec<Facts>,
    extents: Extents,
    /// Axes along which tiles may be divided.
    along: Vec<(AxisId, Role)>,
    may_be_cut: bool,
}

impl Shared {
    fn of(tree: &Schedule, nest: &Nest, product: &Product) -> Option<Shared> {
        let reduction = product.reduction;
        let s = &tree.stages[reduction];
        let extent = |axis: AxisId| s.axes[axis].extent;
        let may_be_divided = divide::may_be_divided(tree, nest.stage)
            && (reduction == nest.stage || recompute::may_be_recomputed(tree, reduction))
            && tree.readers(reduction).iter().all(|r| *r == nest.stage);
        let (axis, facts, extents, along) = match &product.windows {
            Some(windows) => {
                let role = |a: AxisId| match windows.rows.contains(&a) {
                    true => (extent(a) == windows.extents.rows).then_some((a, Role::Rows)),
                    false => Some((a, Role::Others(extent(a)))),
                };
                let roles: Vec<(AxisId, Role)> = (0..windows.columns.start).filter_map(role).collect();
                (windows.longest, product.facts.clone(), windows.extents, roles)
            }
            None => {
                let (found, facts) = best(tree, reduction, &product.facts)?;
                let extents = Extents::of(tree, reduction, &found, (reduction, 0));
                let mut roles = vec![(found.row, Role::Rows), (found.column, Role::Columns)];
                let others = (0..s.rank()).filter(|a| *a != found.row && *a != found.column);
                roles.extend(others.map(|a| (a, Role::Others(extent(a)))));
                (found.depth, facts, extents, roles)
            }
        };
        let along = if may_be_divided { along } else { Vec::new() };
        let may_be_cut = rfactor::may_be_factored(s);
        Some(Shared { axis, extent: extent(axis), facts, extents, along, may_be_cut })
    }

    fn work(&self) -> Work<'_> {
        let Shared { extents, along, facts, may_be_cut, .. } = self;
        Work { extents, axis: self.extent, along, facts, may_be_cut: *may_be_cut }
    }
}
