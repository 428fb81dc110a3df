//! Axes of a stage in a nest: how far they go, and what they are at a point.
//!
//!     j = 16 jo + ji         the value of an axis from those of the loops it was made into
//!     16 jo + ji < 100       the guard of a split whose remainder has no loop of its own

use super::Lowering;
use super::nest::{Bindings, Nest};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::Loops;
use fusion_dialects::te::{Compare, Op as Te, Scalar};
use fusion_schedule::schedule::{AxisId, Origin, Refusal, Relation, StageId, Tail};

impl<'c> Lowering<'c, '_> {
    /// Number of iterations of a loop, given which splits are exact here.
    pub(super) fn extent(&self, nest: &Nest, bound: &Bindings, axis: AxisId) -> u64 {
        let s = &self.tree.stages[nest.stage];
        let a = &s.axes[axis];
        match a.origin {
            Origin::Root(i) => nest.region.get(i).map_or(a.extent, |(_, n)| *n),
            Origin::Split(relation) => {
                let Relation::Split { parent, outer, factor, tail, .. } = s.relations[relation] else {
                    return a.extent;
                };
                let whole = self.extent(nest, bound, parent);
                let (blocks, each) = bound.exact.get(&relation).copied().unwrap_or((
                    whole.div_ceil(factor),
                    if matches!(tail, Tail::Guard | Tail::Pad) { factor } else { factor.min(whole) },
                ));
                if axis == outer { blocks } else { each }
            }
            Origin::Fuse(relation) => {
                let Relation::Fuse { first, second, .. } = s.relations[relation] else { return a.extent };
                self.extent(nest, bound, first) * self.extent(nest, bound, second)
            }
        }
    }

    /// The relation that made other axes of this one.
    fn made_into(&self, stage: StageId, axis: AxisId) -> Option<(usize, Relation)> {
        let relations = self.tree.stages[stage].relations.iter().copied().enumerate();
        relations.into_iter().find(|(_, r)| match *r {
            Relation::Split { parent, .. } => parent == axis,
            Relation::Fuse { first, second, .. } => first == axis || second == axis,
        })
    }

    /// The value of an axis from those of the loops it was made into.
    pub(super) fn value(&self, nest: &Nest, bound: &Bindings, axis: AxisId) -> Expr {
        if let Some(value) = bound.values.get(&axis) {
            return value.clone();
        }
        match self.made_into(nest.stage, axis) {
            Some((_, Relation::Split { outer, inner, factor, .. })) => {
                self.value(nest, bound, outer).times(factor as i64).plus(&self.value(nest, bound, inner))
            }
            Some((_, Relation::Fuse { second, fused, .. })) => {
                let by = self.extent(nest, bound, second).max(1) as i64;
                let fused = self.value(nest, bound, fused);
                if axis == second { fused.modulo(by) } else { fused.div(by) }
            }
            None => Expr::constant(0),
        }
    }

    /// The axes of the computation: parallel ones with the beginning of their region, then reduction axes.
    pub(super) fn root_axes(&self, nest: &Nest, bound: &Bindings) -> Vec<Expr> {
        let s = &self.tree.stages[nest.stage];
        let roots = (0..s.axes.len()).filter(|&a| matches!(s.axes[a].origin, Origin::Root(_)));
        roots
            .enumerate()
            .map(|(i, a)| {
                let value = self.value(nest, bound, a);
                nest.region.get(i).map_or(value.clone(), |(from, _)| from.plus(&value))
            })
            .collect()
    }

    /// True when some index that is bound goes beyond its axis and is guarded.
    pub(super) fn has_guards(&self, nest: &Nest, bound: &Bindings) -> bool {
        let relations = self.tree.stages[nest.stage].relations.iter().enumerate();
        relations.into_iter().any(|(i, r)| match *r {
            Relation::Split { parent, outer, inner, factor, tail } => {
                // Loops further in must not need more than what was made for them here.
                let place = nest.order.iter().position(|&l| l == outer);
                let peeled =
                    tail != Tail::Guard && place.is_some_and(|p| !self.holds(nest, inner, &nest.order[..p]));
                !bound.exact.contains_key(&i)
                    && tail != Tail::Pad
                    && (!peeled || self.touched(nest.stage, bound, parent))
                    && !self.extent(nest, bound, parent).is_multiple_of(factor)
                    && (tail == Tail::Guard || self.extent(nest, bound, parent) > factor)
            }
            Relation::Fuse { .. } => false,
        })
    }

    /// A condition for each split whose remainder was not peeled off, of the parallel or of the reduction axes.
    pub(super) fn guards(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        reduce: bool,
    ) -> Option<Scalar<'c>> {
        let s = &self.tree.stages[nest.stage];
        let mut condition: Option<Scalar> = None;
        for (i, relation) in s.relations.iter().enumerate() {
            let Relation::Split { parent, factor, tail, .. } = *relation else { continue };
            let whole = self.extent(nest, bound, parent);
            if s.axes[parent].reduce != reduce
                || bound.exact.contains_key(&i)
                || whole.is_multiple_of(factor)
                || (whole <= factor && tail != Tail::Guard)
                || tail == Tail::Pad
            {
                continue;
            }
            if tail == Tail::Peel {
                let why = format!(
                    "splits a loop of {whole} iterations of stage \"{}\" by {factor} and is to peel off what is left over, but cannot: \
                     the inner loop stands outside the outer one",
                    s.name
                );
                self.refuse(Refusal::of_loop(nest.stage, parent, &[Te::Split, Te::Tile], why));
            }
            let value = self.indices.value(&loops.build, &self.value(nest, bound, parent));
            let inside =
                loops.scalars().index_compare(Compare::Less, value, loops.scalars().index(whole as i64));
            condition = Some(condition.map_or(inside, |c| loops.scalars().and(c, inside)));
        }
        condition
    }

    /// True when the axis, or a loop it was made into, has a value already.
    pub(super) fn touched(&self, stage: StageId, bound: &Bindings, axis: AxisId) -> bool {
        bound.is_bound(axis)
            || match self.made_into(stage, axis) {
                Some((_, Relation::Split { outer, inner, .. })) => {
                    self.touched(stage, bound, outer) || self.touched(stage, bound, inner)
                }
                Some((_, Relation::Fuse { fused, .. })) => self.touched(stage, bound, fused),
                None => false,
            }
    }
}
