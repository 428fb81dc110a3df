//! Reductions of a kernel: stages with a combiner, long sums in blocks.

use super::blocks::Blocks;
use super::builder::Kernel;
use super::combine::{Combine, combine, neutral};
use super::scalar::{Scalar, Scalars};
use crate::Value;
use fusion_operators::{Dim, TensorType};

/// The element of a sum, by the places of its result and of the axes summed over.
type Element<'a, 'c> = &'a dyn Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>;

impl<'c> Kernel<'c> {
    /// A tensor whose elements are combined over reduction axes: `body` takes the indices of the parallel axes and
    /// those of the reduction axes. Half types are accumulated in f32 and rounded at the end; long sums of f32 are made in blocks.
    pub fn reduce(
        &self,
        name: &str,
        ty: &TensorType,
        reduce: &[impl Into<Dim> + Clone],
        how: Combine,
        body: impl Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>,
    ) -> Value<'c> {
        let wide = ty.with_dtype(self.compute_type(ty.dtype));
        let dims: Vec<Dim> = reduce.iter().cloned().map(Into::into).collect();
        if let Some(blocks) = Blocks::of(how, wide.dtype, &dims) {
            return self.reduce_in_blocks(name, ty, &blocks, &body);
        }
        let neutral = neutral(how, wide.dtype);
        let sum = self.stage(
            name,
            std::slice::from_ref(&wide),
            reduce,
            &[neutral],
            |s, axes, over| vec![body(s, axes, over)],
            |s, a, b| vec![combine(s, how, a[0], b[0])],
        )[0];
        if wide == *ty { sum } else { self.compute("round", ty, |s, i| s.load(sum, i)) }
    }

    fn reduce_in_blocks(
        &self,
        name: &str,
        ty: &TensorType,
        blocks: &Blocks,
        element: Element<'_, 'c>,
    ) -> Value<'c> {
        let wide = ty.with_dtype(self.compute_type(ty.dtype));
        let [count, length] = blocks.split;
        let outer = blocks.outer.len();
        let summed = [&blocks.outer[..], &[count]].concat();
        let sums = self.block(name, &wide, (&summed, length, &blocks.inner), &|s, at, over| {
            let (before, own) = at.split_at(outer + 1);
            let place = s.index_add(s.index_affine(before[outer], length as i64, 0), over[0]);
            element(s, own, &[&before[..outer], &[place], &over[1..]].concat())
        });
        let add_up = |name: &str, ty: &TensorType, sums: Value<'c>, over: &[u64]| {
            self.reduce(name, ty, over, Combine::Sum, |s, at, over| s.load(sums, &[over, at].concat()))
        };
        if blocks.rest == 0 {
            return add_up(name, ty, sums, &summed);
        }
        let whole = add_up("whole", &wide, sums, &summed);
        let behind = (count * length) as i64;
        let rest = self.block("rest", &wide, (&blocks.outer, blocks.rest, &blocks.inner), &|s, at, over| {
            let (before, own) = at.split_at(outer);
            element(s, own, &[before, &[s.index_affine(over[0], 1, behind)], &over[1..]].concat())
        });
        let rest = if outer == 0 { rest } else { add_up("rest", &wide, rest, &blocks.outer) };
        self.compute(name, ty, |s, at| s.add(s.load(whole, at), s.load(rest, at)))
    }

    /// A sum for each place of axes in front of those of the result: over so many places, and over axes inside.
    fn block(
        &self,
        name: &str,
        ty: &TensorType,
        (before, length, inner): (&[u64], u64, &[u64]),
        element: Element<'_, 'c>,
    ) -> Value<'c> {
        let dims = before.iter().map(|&n| Dim::Static(n)).chain(ty.dims.iter().cloned()).collect();
        let over = [&[length], inner].concat();
        self.reduce(&format!("{name}_blocks"), &TensorType::new(dims, ty.dtype), &over, Combine::Sum, element)
    }
}
