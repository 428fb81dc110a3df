//! Reductions in vectors: partial results side by side, which are combined at the end.
//!
//!     acc = 0                                   for l in 0..16 (vectorized)
//!     for ko                                      p[l] = 0 ; for ko  p[l] += x[ko * 16 + l]
//!       for l (vectorized)              =>      p[l] += p[l + 8], 8 lanes at once; then 4, 2, 1
//!         acc += x[ko * 16 + l]                 acc = p[0]
//!
//! This is the `rfactor` of Halide (Suriana, Adams, Kamil, "Parallel Associative Reductions in Halide", 2017) inside of one
//! loop nest: a combiner takes its elements in any order, so each lane of a vectorized reduction loop combines every 16th
//! element by itself. Unrolled loops of such a reduction are lanes as well, so that one vector need not wait for the last.
//! What a split leaves over is combined into the first lanes.

use super::Lowering;
use super::nest::{Bindings, Nest};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{Buffer, LoopKind, Loops, Scope};
use fusion_dialects::te::Scalar;
use fusion_dialects::{OpExt, Value, tensor_type};
use fusion_operators::DType;
use fusion_schedule::schedule::{AxisId, Relation};

/// Where the partial results are.
struct Partial<'c> {
    /// One buffer a result.
    buffers: Vec<Buffer<'c>>,
    /// The loops over lanes, and how far apart their iterations are.
    lanes: Vec<(AxisId, u64)>,
}

impl<'c> Lowering<'c, '_> {
    /// The reduction loops whose iterations have results of their own; none when the reduction is not vectorized.
    pub(super) fn lanes(&self, nest: &Nest) -> Vec<AxisId> {
        let axes = &self.tree.stages[nest.stage].axes;
        let own = || nest.reduction_loops().iter().copied();
        if !own().any(|l| axes[l].kind == LoopKind::Vectorized) {
            return Vec::new();
        }
        own().filter(|&l| matches!(axes[l].kind, LoopKind::Vectorized | LoopKind::Unrolled)).collect()
    }

    /// One element of a reduction, combined in lanes.
    pub(super) fn reduce_in_lanes(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        lanes: &[AxisId],
    ) -> Vec<Value<'c>> {
        let parts = self.parts(nest, bound.clone(), nest.reduction_loops(), lanes);
        let widest = |axis: AxisId| parts.iter().map(|part| self.width(nest, part, axis)).max().unwrap_or(1);
        let widths: Vec<u64> = lanes.iter().map(|&l| widest(l)).collect();
        let slots: u64 = widths.iter().product();
        let strides = (0..lanes.len()).map(|i| widths[i + 1..].iter().product());
        let tensors = self.tree.stages[nest.stage].op.result_values();
        let dtypes = tensors.iter().map(|t| tensor_type(*t).map_or(DType::F32, |t| t.dtype));
        let partial = Partial {
            buffers: dtypes.map(|dtype| loops.alloc(slots, dtype, Scope::Local)).collect(),
            lanes: lanes.iter().copied().zip(strides).collect(),
        };
        // The first part begins with neutral elements, if it has all lanes; later ones go on from it.
        let fills =
            |part: &Bindings| lanes.iter().zip(&widths).all(|(&l, w)| self.width(nest, part, l) == *w);
        let complete = parts.first().is_some_and(fills);
        if !complete {
            each_lane(loops, slots, |inner, slot| {
                let neutral = self.neutral(inner, nest.stage);
                partial.store(inner, slot, &neutral);
            });
        }
        for (i, part) in parts.into_iter().enumerate() {
            let fresh = complete && i == 0;
            self.fill(loops, nest, part, &partial, (0, Expr::constant(0)), fresh);
        }
        let vector = widths.last().copied().unwrap_or(1);
        let mut width = slots;
        while width > 1 {
            // Whole vectors are combined before halves of one.
            let half = width.div_ceil(2);
            let half = if width > vector { half.next_multiple_of(vector) } else { half };
            each_lane(loops, width - half, |inner, slot| {
                let other = inner.scalars().index_affine(slot, 1, half as i64);
                let (a, b) = (partial.load(inner, slot), partial.load(inner, other));
                let both = self.combine(inner, nest.stage, &a, &b);
                partial.store(inner, slot, &both);
            });
            width = half;
        }
        partial.load(loops, loops.scalars().index(0))
    }

    /// The whole blocks and the remainders of the splits that lanes come from, each a part of the reduction.
    fn parts(&self, nest: &Nest, bound: Bindings, axes: &[AxisId], lanes: &[AxisId]) -> Vec<Bindings> {
        let Some((&axis, rest)) = axes.split_first() else { return vec![bound] };
        if !self.is_outside_of(nest, axis, lanes) {
            return self.parts(nest, bound, rest, lanes);
        }
        let ways = self.ways(nest, &bound, axis).into_iter().filter(|way| way.iterations != 0);
        ways.flat_map(|way| self.parts(nest, way.unless_looped(axis), rest, lanes)).collect()
    }

    /// True when the loop is over blocks of lanes.
    fn is_outside_of(&self, nest: &Nest, axis: AxisId, lanes: &[AxisId]) -> bool {
        let mut relations = self.tree.stages[nest.stage].relations.iter();
        relations.any(|r| matches!(*r, Relation::Split { outer, inner, .. } if outer == axis && self.holds(nest, inner, lanes)))
    }

    /// True when one of the loops an axis was made into is one of `lanes`.
    pub(super) fn holds(&self, nest: &Nest, axis: AxisId, lanes: &[AxisId]) -> bool {
        lanes.contains(&axis)
            || self.tree.stages[nest.stage].relations.iter().any(|r| match *r {
                Relation::Split { parent, outer, inner, .. } => {
                    parent == axis && (self.holds(nest, outer, lanes) || self.holds(nest, inner, lanes))
                }
                Relation::Fuse { first, second, fused } => {
                    (first == axis || second == axis) && self.holds(nest, fused, lanes)
                }
            })
    }

    fn width(&self, nest: &Nest, part: &Bindings, axis: AxisId) -> u64 {
        if part.is_bound(axis) { 1 } else { self.extent(nest, part, axis) }
    }

    /// Combines a part of the reduction: `at` is the number of lane loops made and the lane they lead to.
    fn fill(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        mut bound: Bindings,
        partial: &Partial<'c>,
        (depth, slot): (usize, Expr),
        fresh: bool,
    ) {
        let Some(&(axis, stride)) = partial.lanes.get(depth) else {
            let at = self.indices.value(&loops.build, &slot);
            let so_far = if fresh { self.neutral(loops, nest.stage) } else { partial.load(loops, at) };
            let serial = nest.without(|axis| bound.is_bound(axis));
            let sums = self.reduce_serially(loops, &serial, bound, so_far);
            return partial.store(loops, at, &sums);
        };
        match self.width(nest, &bound, axis) {
            // A remainder of one block goes into the first lanes.
            1 => {
                if !bound.is_bound(axis) {
                    bound.bind(axis, Expr::constant(0));
                }
                self.fill(loops, nest, bound, partial, (depth + 1, slot), fresh);
            }
            n => {
                let kind = self.tree.stages[nest.stage].axes[axis].kind;
                loops.for_(n, kind, &[], |inner, index, _| {
                    let lane = self.indices.var(index, n);
                    bound.bind(axis, lane.clone());
                    let slot = slot.plus(&lane.times(stride as i64));
                    self.fill(inner, nest, bound, partial, (depth + 1, slot), fresh);
                    Vec::new()
                });
            }
        }
    }
}

impl<'c> Partial<'c> {
    fn load(&self, loops: &Loops<'c>, slot: Value<'c>) -> Vec<Value<'c>> {
        self.buffers.iter().map(|b| loops.load_raw(*b, slot).value).collect()
    }

    fn store(&self, loops: &Loops<'c>, slot: Value<'c>, values: &[Value<'c>]) {
        for (buffer, value) in self.buffers.iter().zip(values) {
            loops.store(Scalar { value: *value, dtype: buffer.dtype }, *buffer, slot);
        }
    }
}

/// A vectorized loop over that many lanes.
fn each_lane<'c>(loops: &Loops<'c>, lanes: u64, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
    if lanes == 1 {
        return body(loops, loops.scalars().index(0));
    }
    loops.for_(lanes, LoopKind::Vectorized, &[], |inner, slot, _| {
        body(inner, slot);
        Vec::new()
    });
}
