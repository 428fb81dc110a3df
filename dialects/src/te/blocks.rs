//! Long sums of f32, in blocks.
//!
//!     sum_k x[k]   k < 100000      =>      b[q] = sum_i x[1000 q + i]   i < 1000        sum_q b[q]
//!
//! One after the other, n numbers are summed with an error of up to n roundings; in blocks of m with m + n / m. Sums of more than 2^16 numbers
//! are made so, of several axes from the innermost on. What an axis leaves over is a block of its own.

use super::builder::{Combine, Kernel};
use super::scalar::{Scalar, Scalars};
use crate::Value;
use fusion_operators::{DType, Dim, TensorType};

/// Sums of more numbers are made in blocks.
const MOST: u64 = 1 << 16;
/// Numbers of a block.
const BLOCK: u64 = 1 << 10;

/// How a sum is made.
pub(super) struct Blocks {
    /// The axes outside of the one that is split; those, it, and the ones inside are all.
    outer: Vec<u64>,
    /// Blocks of the axis, and its places in each.
    split: [u64; 2],
    /// Its places behind the last block.
    rest: u64,
    /// The axes inside.
    inner: Vec<u64>,
}

impl Blocks {
    /// Of a combination over axes, where that is a long sum.
    pub fn of(how: Combine, dtype: DType, axes: &[Dim]) -> Option<Blocks> {
        let extents: Vec<u64> = axes.iter().map(Dim::known).collect::<Option<_>>()?;
        let all = extents.iter().try_fold(1u64, |n, &e| n.checked_mul(e)).unwrap_or(u64::MAX);
        if how != Combine::Sum || dtype != DType::F32 || all <= MOST {
            return None;
        }
        let (mut at, mut inside) = (extents.len(), 1);
        while at > 0 && inside * extents[at - 1] <= BLOCK {
            at -= 1;
            inside *= extents[at];
        }
        let (outer, rest) = extents.split_at(at.checked_sub(1)?);
        let (&extent, inner) = rest.split_first()?;
        let most = (BLOCK / inside).max(1);
        // A divisor leaves nothing over.
        let even = (most.div_ceil(8)..=most).rev().find(|n| extent.is_multiple_of(*n));
        let length = even.unwrap_or(most);
        let split = [extent / length, length];
        Some(Blocks { outer: outer.to_vec(), split, rest: extent % length, inner: inner.to_vec() })
    }
}

/// The element of a sum, by the places of its result and of the axes summed over.
type Element<'a, 'c> = &'a dyn Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Scalar<'c>;

impl<'c> Kernel<'c> {
    pub(super) fn reduce_in_blocks(
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
