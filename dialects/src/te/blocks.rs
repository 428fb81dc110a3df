//! Long sums of f32, in blocks.
//!
//!     sum_k x[k]   k < 100000      =>      b[q] = sum_i x[1000 q + i]   i < 1000        sum_q b[q]
//!
//! One after the other, n numbers are summed with an error of up to n roundings; in blocks of m with m + n / m. Sums of more than 2^16 numbers
//! are made so, of several axes from the innermost on. What an axis leaves over is a block of its own.

use super::combine::Combine;
use fusion_operators::{DType, Dim};

/// Sums of more numbers are made in blocks.
const MOST: u64 = 1 << 16;
/// Numbers of a block.
const BLOCK: u64 = 1 << 10;

/// How a sum is made.
pub(super) struct Blocks {
    /// The axes outside of the one that is split; those, it, and the ones inside are all.
    pub outer: Vec<u64>,
    /// Blocks of the axis, and its places in each.
    pub split: [u64; 2],
    /// Its places behind the last block.
    pub rest: u64,
    /// The axes inside.
    pub inner: Vec<u64>,
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
