//! Nests written by hand that compute in parts.
//!
//!     te.extern (%x) axes [14], parts of y: rows 4 q .. 4 q + 4      =>      for q in 0..14  body(q, rows of x, rows of y)
//!
//! The body is copied into a loop over the parts that are needed, with the buffers of the tensors, where the part begins in
//! each, and how far apart neighbours along each axis are.

use super::ranges::{Range, ranged};
use super::{Lowering, Part, Place};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::te::Parts;
use fusion_dialects::{OpExt, PassError, Value, arguments, key, ops_in};
use fusion_schedule::schedule::StageId;

/// The range of parts that a region of the result is made of; all when it does not begin with a part.
pub fn parts_of(parts: &Parts, region: &[Range]) -> Range {
    let whole = (Expr::constant(0), parts.count);
    let Some(slice) = parts.slices.last().copied().flatten() else { return whole };
    let step = slice.step as i64;
    let Some((from, n)) = region.get(slice.dim) else { return whole };
    match from.modulo(step).as_constant() {
        Some(0) if n.div_ceil(slice.step) < parts.count => (from.div(step), n.div_ceil(slice.step)),
        _ => whole,
    }
}

/// The smallest region of the result that has that one and consists of whole parts.
pub fn by_whole_parts(parts: &Parts, region: &[Range], shape: &[u64]) -> Vec<Range> {
    let (from, n) = parts_of(parts, region);
    let dim = parts.slices.last().copied().flatten();
    let each = |(axis, &extent): (usize, &u64)| match dim {
        Some(slice) if slice.dim == axis => (from.times(slice.step as i64), n * slice.step),
        _ => (Expr::constant(0), extent),
    };
    shape.iter().enumerate().map(each).collect()
}

/// The indices of an input that those parts read.
pub fn reads(
    parts: &Parts,
    input: usize,
    (from, n): &Range,
    shape: &[u64],
    fresh: &mut usize,
) -> Vec<Option<Expr>> {
    let slice = parts.slices.get(input).copied().flatten();
    let mut each = |(axis, &extent): (usize, &u64)| match slice {
        Some(s) if s.dim == axis => {
            Some(from.times(s.step as i64).plus(&ranged(fresh, (n - 1) * s.step + s.length)))
        }
        _ => Some(ranged(fresh, extent)),
    };
    shape.iter().enumerate().map(&mut each).collect()
}

impl<'c> Lowering<'c, '_> {
    /// Computes the parts of a nest that a region of its result consists of.
    pub(super) fn by_parts(&mut self, loops: &Loops<'c>, stage: StageId, parts: &Parts, region: &[Range]) {
        let s = &self.tree.stages[stage];
        let tensors = [s.op.operand_values(), s.op.result_values()].concat();
        let (from, count) = parts_of(parts, region);
        let kind = s.axes.first().map_or(LoopKind::Serial, |a| a.kind);
        loops.for_independent(count, kind, |inner, index| {
            let part = from.plus(&self.indices.var(index, count));
            let mut values = vec![self.indices.value(&inner.build, &part)];
            for (tensor, slice) in tensors.iter().zip(&parts.slices) {
                let Some(Place::Memory(place)) = self.places.get(&key(*tensor)).cloned() else {
                    self.fail(PassError::at(s.op, "reads a tensor that is not in memory"));
                    return;
                };
                let mut first = vec![Expr::constant(0); place.shape.len()];
                if let Some(slice) = slice {
                    first[slice.dim] = part.times(slice.step as i64);
                }
                values.extend(self.view_of(inner, &place, &first));
            }
            self.copy_body(inner, stage, &values);
        });
    }

    /// A buffer, where the element with those indices is in it, and the distance of neighbours along each axis.
    fn view_of(&self, loops: &Loops<'c>, place: &Part<'c>, first: &[Expr]) -> Vec<Value<'c>> {
        let mut strides = vec![1u64; place.shape.len()];
        for axis in (1..strides.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(place.shape[axis]);
        }
        let mut values = vec![place.buffer.value, self.indices.value(&loops.build, &place.offset(first))];
        values.extend(strides.into_iter().map(|n| loops.scalars().index(n as i64)));
        values
    }

    fn copy_body(&mut self, loops: &Loops<'c>, stage: StageId, values: &[Value<'c>]) {
        let Some(body) = self.tree.stages[stage].op.body(0) else { return };
        let mut map = self.outside.clone();
        for (argument, value) in arguments(body).into_iter().zip(values) {
            map.insert(argument, *value);
        }
        let ops = ops_in(body);
        for op in &ops[..ops.len().saturating_sub(1)] {
            map.clone_op(&loops.build, *op);
        }
    }
}
