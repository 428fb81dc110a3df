//! Blocks: a product between two nests written by hand is computed part by part with them.
//!
//!     for q  v[q] = B' x[q] B                        for io
//!     for k, t, f  s[k, t, f] = sum v u     =>         for q of io   v = B' x[q] B
//!     for q  r[q] = A' s[q] A                          for k, t, f   s[k, t, f] = sum v u       t: what q has
//!     for i  y[i] = relu(r[i] + b)                     for q of io   r = A' s A
//!                                                      for ii        y[io, ii] = relu(r[ii] + b)
//!
//! The form of Winograd's convolutions. What goes through memory otherwise stays in the near caches; but the product's constant
//! operand is read once a block. So blocks are for tensors that the near cache does not hold, with a constant that is small.
//! A block has half of the near cache, the constant the other half. Threads share the blocks, so a somewhat smaller one is better
//! where that makes their shares more even.

use crate::auto_schedule::operands::operands;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{Attach, AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{accesses, put};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::te::Parts;
use fusion_dialects::{OpExt, Value, key, tensor_type};
use fusion_machine::Machine;

/// Times that what is written and read again moves: its lines are read before they are written.
const TRIPS: u64 = 3;
/// What lies in the far cache between two kernels' stages.
const FAR_BYTES: u64 = 12 << 20;
/// A byte from memory takes as long as that many from the far cache.
const FURTHER: u64 = 3;

/// The stages of a kernel that are computed in blocks.
pub struct Blocks {
    host: StageId,
    /// What the host reads.
    result: StageId,
    /// What that reads.
    pub product: StageId,
    /// What the product reads.
    data: StageId,
    /// What that reads in parts, when it is computed in the kernel.
    source: Option<StageId>,
    /// The axis of the product along which parts lie, and its extent in a block.
    pub part: (usize, u64),
    /// The axis of the host along which parts lie, and its extent in a block.
    rows: AxisId,
    /// Axes that are outside of it.
    around: Vec<AxisId>,
    block: u64,
}

/// The blocks of a kernel where they are worth it.
pub fn find(tree: &Schedule, nests: &[Nest], machine: &Machine, constant: &[bool]) -> Option<Blocks> {
    let last = nests.last().filter(|n| n.reduction.is_none())?;
    let host = last.stage;
    let by_hand = |s: &StageId| Parts::of(tree.stages[*s].op).is_some();
    let only_reader = |s: StageId, reader: StageId| tree.readers(s) == [reader] && !tree.results.contains(&s);
    let result = (0..tree.stages.len()).find(|s| by_hand(s) && only_reader(*s, host))?;
    let parts = Parts::of(tree.stages[result].op)?;
    let slice = parts.slices.last().copied().flatten()?;
    let product = tree.giving(*tree.stages[result].op.operand_values().first()?)?;
    let read = operands(tree, product)?;
    let data = read.iter().filter_map(|o| o.stage).find(by_hand)?;
    let weight = read.iter().find(|o| o.is_constant(constant))?;
    let of_data = Parts::of(tree.stages[data].op)?;
    let as_many = of_data.count == parts.count;
    let given = tree.stages[data].op.operand_values().first().and_then(|v| tree.giving(*v));
    let in_parts = of_data.slices.first().copied().flatten().is_some();
    let plain = |s: &StageId| nests.iter().any(|n| n.stage == *s && n.reduction.is_none());
    let source = given.filter(|s| in_parts && plain(s) && only_reader(*s, data));
    if !plain(&product)
        || !as_many
        || read.len() != 2
        || !only_reader(product, result)
        || !only_reader(data, product)
    {
        return None;
    }
    let bytes = |s: StageId| tensor_type(*tree.stages[s].op.result_values().first()?)?.bytes();
    let kept = bytes(data)? + bytes(product)?;
    let weights = tensor_type(*tree.inputs.get(weight.input?)?)?.bytes()?;
    let each = most_even(parts.count, machine.second_cache / 2 / (kept / parts.count).max(1));
    let whole = TRIPS * kept * if kept > FAR_BYTES { FURTHER } else { 1 };
    if kept <= machine.second_cache || whole <= weights.saturating_mul(parts.count.div_ceil(each)) {
        return None;
    }
    let of_product = parts.slices.first().copied().flatten()?;
    let s = &tree.stages[host];
    let own: Vec<Option<Expr>> = (0..s.rank()).map(|a| Some(Expr::var(a, s.axes[a].extent))).collect();
    let index = index_of(tree, host, &own, *tree.stages[result].op.result_values().first()?, slice.dim)?;
    let rows = (0..s.rank()).find(|&a| index.coefficient(a) == Some(1))?;
    let around = (0..s.rank()).filter(|&a| a != rows && index.mentions(a)).collect();
    let block = each * slice.step;
    (s.axes[rows].extent > block).then_some(Blocks {
        host,
        result,
        product,
        data,
        source,
        part: (of_product.dim, each * of_product.step),
        rows,
        around,
        block,
    })
}

/// The index along an axis of a tensor with which a stage reads it, directly or through inlined stages.
fn index_of(
    tree: &Schedule,
    stage: StageId,
    axes: &[Option<Expr>],
    tensor: Value,
    dim: usize,
) -> Option<Expr> {
    accesses(tree.stages[stage].op).into_iter().find_map(|access| {
        let at: Vec<Option<Expr>> =
            access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect();
        if key(access.tensor) == key(tensor) {
            return at.get(dim).cloned().flatten();
        }
        let read = tree.giving(access.tensor).filter(|r| tree.stages[*r].attach == Attach::Inline)?;
        index_of(tree, read, &at, tensor, dim)
    })
}

/// How many of the parts are in a block: at most so many and at least half of that, such that the larger share of two threads is
/// the smallest, which evens out those of more threads as well.
pub(super) fn most_even(parts: u64, most: u64) -> u64 {
    let most = most.clamp(1, parts.max(1));
    let share = |each: u64| (parts.div_ceil(each).div_ceil(2) * each).min(parts);
    (most.div_ceil(2)..=most).rev().min_by_key(|&each| share(each)).unwrap_or(most)
}

impl Blocks {
    /// Writes the primitives, once the stages have their loops; none when the loop over the rows is gone.
    pub fn write(&self, writer: &mut Writer) -> Result<(), String> {
        let host = &writer.tree.stages[self.host];
        if !self.around.iter().chain([&self.rows]).all(|a| host.leaves.contains(a))
            || host.axes[self.rows].kind != LoopKind::Serial
        {
            return Ok(());
        }
        let (blocks, _) = writer.split(self.host, self.rows, self.block)?;
        let leaves = &writer.tree.stages[self.host].leaves;
        let rest = leaves.iter().copied().filter(|l| *l != blocks && !self.around.contains(l));
        let order: Vec<AxisId> = self.around.iter().copied().chain([blocks]).chain(rest).collect();
        if order != *leaves {
            writer.reorder(self.host, &order)?;
        }
        for stage in [self.result, self.product, self.data].into_iter().chain(self.source) {
            writer.compute_at(stage, self.host, blocks)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::most_even;

    #[test]
    fn blocks_are_shared_evenly() {
        assert_eq!(most_even(14, 2), 1);
        assert_eq!(most_even(7, 2), 2);
        assert_eq!(most_even(16, 4), 4);
        assert_eq!(most_even(28, 0), 1);
        assert_eq!(most_even(3, 9), 2);
    }
}
