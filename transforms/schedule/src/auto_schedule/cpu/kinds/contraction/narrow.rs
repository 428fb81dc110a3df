//! Few columns: lanes go along the reduction, where vectors of columns would leave most lanes out.
//!
//!     for i  for k in 0..128  y[i, 0..4] += x[i, k] * w[k, 0..4]
//!       =>
//!     for i  for j in 0..4 (unrolled)  for ko in 0..8 (unrolled)  for ki (16, vectorized)  y[i, j] += x[i, ..] * w'[j, ..]
//!
//! The lanes of a sum are added at its end. 4096 x 128 by 128 x 4, the biases of an attention, took 77 us on a core of an AMD Zen 5, and
//! 34 so.

use super::{Contraction, recognize, split_above};
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::layout::{Digit, Layout};
use crate::schedule::{Handle, Schedule, StageId};

/// Cycles to add the lanes of a sum, beside others.
const ACROSS: f64 = 3.0;

/// The kind.
pub struct InLanes;

impl Kind for InLanes {
    fn about(&self) -> About {
        About {
            name: "contraction-in-lanes",
            matches: "a product with a constant of few columns",
            knobs: &[],
            formula: "rows x (multiply-adds or loads, and the sum of the lanes of each column)",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().filter_map(|nest| Narrow::of(tree, nest, kernel)))
    }
}

/// A product in lanes along the reduction.
struct Narrow {
    nest: Nest,
    contraction: Contraction,
    /// The panel and the axis of its columns.
    panel: usize,
    vector: usize,
    /// The axis of the panel that is summed over.
    along: usize,
    step: usize,
    depth: u64,
}

impl Narrow {
    fn of(tree: &Schedule, nest: &Nest, kernel: &Kernel) -> Option<Narrow> {
        let (machine, constant) = (kernel.machine, kernel.constant);
        let is_in_blocks = kernel.blocks.is_some_and(|blocks| blocks.product == nest.stage);
        if is_in_blocks || nest.reduction.is_some() {
            return None;
        }
        let found = recognize(tree, nest.stage, nest.stage, machine)?;
        let lanes = found.lanes;
        let is_plain = found.is_alone && found.fused == 1 && found.groups.is_none();
        let (&[(step, depth)], true) = (&found.steps[..], is_plain) else { return None };
        let is_narrow = |vector: &usize| {
            let (columns, vectors) = (found.extents[*vector], depth / lanes);
            2 * columns <= lanes && depth.is_multiple_of(lanes) && vectors * columns <= machine.registers
        };
        let vector = (0..found.extents.len()).find(|v| is_narrow(v) && found.panel_along(*v).is_some())?;
        let panel = found.panel_along(vector)?;
        let of_panel = &found.operands[panel];
        let along = of_panel.dimension(step, depth)?;
        let reads_vectors = found.stride(1 - panel, step) == Some(1) && of_panel.is_constant(constant);
        reads_vectors.then_some(Narrow { nest: *nest, contraction: found, panel, vector, along, step, depth })
    }
}

impl Match for Narrow {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let machine = kernel.machine;
        let columns = self.contraction.extents[self.vector];
        let vectors = self.depth / self.contraction.lanes;
        let rows = self.contraction.extents.iter().product::<u64>() / columns;
        let adds = (vectors * columns).div_ceil(machine.multiply_adds);
        let loads = (vectors * (columns + 1)).div_ceil(machine.loads);
        let of_row = adds.max(loads) as f64 + ACROSS * columns as f64;
        Some(traffic::seconds(tree, kernel, &[self.nest.stage], of_row * rows as f64))
    }

    fn apply(&self, writer: &mut Writer, _kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        let (contraction, panel) = (&self.contraction, &self.contraction.operands[self.panel]);
        let rank = panel.shape.len();
        if let Some(input) = panel.input.filter(|_| self.along + 1 != rank) {
            let digit = |axis| Digit { axis, unit: 1, base: None };
            let digits =
                (0..rank).filter(|&axis| axis != self.along).chain([self.along]).map(digit).collect();
            writer.transform_layout(Handle::Input(input), Layout::new(rank, digits)?)?;
        }
        let stage = self.nest.stage;
        let axes = writer.tree.stages[stage].leaves.clone();
        writer.unroll(stage, axes[self.vector])?;
        let (several, vector) = split_above(writer, stage, axes[self.step], contraction.lanes)?;
        if let Some(several) = several {
            writer.unroll(stage, several)?;
        }
        writer.vectorize(stage, vector)?;
        let parallel = contraction.extents.len();
        let mut order: Vec<_> = (0..parallel).filter(|&a| a != self.vector).map(|a| axes[a]).collect();
        order.push(axes[self.vector]);
        order.extend(axes[parallel..].iter().copied().filter(|&a| a != axes[self.step]));
        order.extend(several);
        order.push(vector);
        match order == writer.tree.stages[stage].leaves {
            true => Ok(()),
            false => writer.reorder(stage, &order),
        }
    }
}
