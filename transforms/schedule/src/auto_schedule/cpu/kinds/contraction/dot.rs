//! Products of integers of 8 bits, four at a time.
//!
//!     for k in 0..512  y[i, j] += a[i, k] * b[k, j]     =>     for ko in 0..128  y[i, j] += dot4(a[i, 4 ko ..], b[4 ko .., j])
//!
//! A lane has a sum, so that what vectors are read from has the four factors of each lane together: panels lie as [k / 4][width][4]. For all
//! else a dot product is a multiply-add of integers of 32 bits, of which there are a quarter as many.

use super::{Contraction, Tile};
use crate::auto_schedule::writer::Writer;
use crate::intrinsics;
use crate::layout::{Digit, Layout};
use crate::schedule::{Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::tensor_type;
use fusion_machine::dot4::TOGETHER;
use fusion_machine::{Dot4, Machine};

/// How a contraction adds several products at once.
#[derive(Clone, Copy)]
pub struct Dot {
    /// The instruction.
    pub instruction: Dot4,
    /// The declaration.
    intrinsic: &'static str,
    /// The innermost step of the reduction, which is cut into fours: its variable, and its extent.
    pub step: (usize, u64),
    /// Whether panels may be copied that are no constants.
    copies: bool,
}

impl Contraction {
    /// The same in dot products, where the machine has an instruction for its elements and they lie so.
    pub(super) fn in_dots(
        self,
        tree: &Schedule,
        reduction: StageId,
        machine: &Machine,
        constant: &[bool],
    ) -> Contraction {
        match self.dot_of(tree, reduction, machine) {
            Some(dot) => self.with(dot, machine, constant),
            None => self,
        }
    }

    /// The same before there is a stage, where the innermost step is long enough, of panels that are constants: pixels that are put into one
    /// loop lie along no axis that could be cut.
    pub(super) fn with_dots(self, instruction: Dot4, machine: &Machine, constant: &[bool]) -> Contraction {
        match self.steps.first() {
            Some(&step) if step.1 >= TOGETHER => {
                self.with(Dot { instruction, intrinsic: "", step, copies: false }, machine, constant)
            }
            _ => self,
        }
    }

    fn with(mut self, dot: Dot, machine: &Machine, constant: &[bool]) -> Contraction {
        let depth = self.depth;
        self.depth = depth / dot.step.1 * dot.step.1.div_ceil(TOGETHER);
        self.dot = Some(dot);
        if self.legal_tiles(machine, constant).is_empty() {
            (self.dot, self.depth) = (None, depth);
        }
        self
    }

    fn dot_of(&self, tree: &Schedule, reduction: StageId, machine: &Machine) -> Option<Dot> {
        let s = &tree.stages[reduction];
        let &step = self.steps.first().filter(|(_, extent)| *extent >= TOGETHER)?;
        let innermost = s.leaves.last().is_some_and(|l| s.axes[*l].reduce && s.axes[*l].extent == step.1);
        // Products of other stages, which are inlined, are in no memory.
        let reads = self.operands.iter().all(|o| o.reader == reduction) && self.groups.is_none();
        let loads = accesses(s.op);
        let [a, b] = &loads[..] else { return None };
        let [a, b] = [a, b].map(|load| tensor_type(load.tensor).map(|ty| ty.dtype));
        let intrinsic = intrinsics::dot4_of(a?, b?)?;
        let instruction = machine.dot4?;
        (innermost && reads && s.axes.len() == s.op_axes()).then_some(())?;
        intrinsics::computes_as(s.op, intrinsic).then_some(Dot { instruction, intrinsic, step, copies: true })
    }

    /// True for a tile that reads both operands in fours, where that is to be.
    pub(super) fn fits_dots(&self, tile: &Tile, constant: &[bool]) -> bool {
        let Some(dot) = self.dot else { return true };
        let (panel, other) = (&self.operands[tile.panel], 1 - tile.panel);
        let (step, extent) = dot.step;
        let is_cut = panel.dimension(tile.vector, self.extents[tile.vector]).is_some()
            && panel.dimension(step, extent).is_some()
            && (panel.is_constant(constant)
                || dot.copies && self.packable(tile.panel, tile.vector, constant));
        is_cut && !tile.packs_rows && self.stride(other, step) == Some(1)
    }

    /// The layout of a panel, with the four factors of a lane together.
    pub(super) fn with_fours(&self, tile: &Tile, layout: Layout) -> Result<Layout, String> {
        let Some(along) = self.fours_of(tile) else { return Ok(layout) };
        let cut = |digit: &Digit| match digit {
            Digit { axis, unit: 1, base: None } if *axis == along => Digit { unit: TOGETHER, ..*digit },
            digit => *digit,
        };
        let mut digits: Vec<Digit> = layout.digits().iter().map(cut).collect();
        digits.push(Digit { axis: along, unit: 1, base: Some(TOGETHER) });
        Layout::new(self.operands[tile.panel].shape.len(), digits)
    }

    /// The axis of a panel of which four lie together.
    pub(super) fn fours_of(&self, tile: &Tile) -> Option<usize> {
        let (step, extent) = self.dot?.step;
        self.operands[tile.panel].dimension(step, extent)
    }

    /// Cuts the innermost step of the reduction into fours, each of which is one instruction.
    pub(super) fn write_dots(&self, writer: &mut Writer, reduction: StageId) -> Result<(), String> {
        let Some(dot) = self.dot else { return Ok(()) };
        let Some(&step) = writer.tree.stages[reduction].leaves.last() else { return Ok(()) };
        let four = match dot.step.1 > TOGETHER {
            true => writer.split(reduction, step, TOGETHER)?.1,
            false => step,
        };
        writer.tensorize(reduction, four, dot.intrinsic)
    }

    /// Multiply-adds that a step of one vector takes as long as.
    pub(super) fn multiply_adds_a_step(&self) -> u64 {
        self.dot.map_or(1, |dot| dot.instruction.facts().multiply_adds)
    }
}
