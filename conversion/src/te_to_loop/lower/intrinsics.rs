//! Intrinsics in place of inner loops.
//!
//! The declared code is copied, with the buffers of the tensors, the places of their first elements, and how far apart
//! neighbours along each axis are: the coefficients of the loops in the offset of an element.

use super::index::RANGED;
use super::nest::{Bindings, Nest};
use super::{Lowering, Part, Place};
use fusion_dialects::loops::Loops;
use fusion_dialects::{OpExt, PassError, Value, ValueMap, arguments, key, ops_in};
use fusion_transforms::te::expr::Expr;
use fusion_transforms::te::indices::put;
use fusion_transforms::te::schedule::AxisId;
use fusion_transforms::te::schedule::intrinsic::Tensorized;

/// A tensor of an intrinsic: its buffer, where it begins, and its distances.
type Operand<'c> = (Value<'c>, Expr, Vec<i64>);

impl<'c> Lowering<'c, '_> {
    /// Puts an intrinsic in place of the loops from here on; false where they have fewer iterations than it.
    pub(super) fn replace(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        tensorized: &Tensorized<'c>,
    ) -> bool {
        let s = &self.tree.stages[nest.stage];
        let whole = tensorized.loops.iter().all(|&l| self.extent(nest, bound, l) == s.axes[l].extent);
        if !whole || self.has_guards(nest, bound) {
            return false;
        }
        let Some(operands) = self.operands(nest, bound, tensorized) else {
            self.fail(PassError::at(
                s.op,
                format_args!(
                    "has loops that are to be the intrinsic @{}, but elements of it lie at distances that are not the same in \
                     all iterations",
                    tensorized.op.text("sym_name").unwrap_or_default()
                ),
            ));
            return true;
        };
        let Some(body) = tensorized.op.body(1) else { return false };
        let mut values = Vec::new();
        for (buffer, at, strides) in operands {
            values.push(buffer);
            values.push(self.indices.value(&loops.build, &at));
            values.extend(strides.into_iter().map(|n| loops.scalars().index(n)));
        }
        let mut map = ValueMap::new();
        for (argument, value) in arguments(body).into_iter().zip(values) {
            map.insert(argument, value);
        }
        let ops = ops_in(body);
        for op in &ops[..ops.len().saturating_sub(1)] {
            map.clone_op(&loops.build, *op);
        }
        self.replaced.push(nest.stage);
        true
    }

    fn operands(
        &self,
        nest: &Nest,
        bound: &Bindings,
        tensorized: &Tensorized<'c>,
    ) -> Option<Vec<Operand<'c>>> {
        let s = &self.tree.stages[nest.stage];
        let mut all = bound.clone();
        let variable = |i: usize| RANGED + 1 + i;
        for (i, &l) in tensorized.loops.iter().enumerate() {
            all.bind(l, Expr::var(variable(i), s.axes[l].extent));
        }
        let axes: Vec<Option<Expr>> = self.root_axes(nest, &all).into_iter().map(Some).collect();
        let mut found = Vec::new();
        for operand in &tensorized.operands {
            let indices: Vec<Expr> = operand.indices.iter().filter_map(|e| put(e, &axes)).collect();
            found.push(self.operand(operand.tensor, &indices, &operand.dims, &tensorized.loops)?);
        }
        let indices: Vec<Expr> = axes.into_iter().take(s.rank()).flatten().collect();
        let dims: Vec<Option<usize>> = (0..s.op.ints("axes").map_or(0, |a| a.len())).map(Some).collect();
        found.push(self.operand(s.op.result_values()[0], &indices, &dims, &tensorized.loops)?);
        Some(found)
    }

    fn operand(
        &self,
        tensor: Value<'c>,
        indices: &[Expr],
        dims: &[Option<usize>],
        loops: &[AxisId],
    ) -> Option<Operand<'c>> {
        let Some(Place::Memory(part)) = self.places.get(&key(tensor)) else { return None };
        let part: &Part = part;
        let place = part.offset(indices);
        let steps: Vec<i64> =
            (0..loops.len()).map(|i| place.coefficient(RANGED + 1 + i)).collect::<Option<_>>()?;
        let begin = place.substitute(&|v| (v.id > RANGED).then(|| Expr::constant(0)));
        let strides = dims.iter().map(|dim| dim.map_or(0, |d| steps[d])).collect();
        Some((part.buffer.value, begin, strides))
    }
}
