//! Transposed convolutions of images whose extents are known at run time only: each result sums up what reaches it.
//!
//!     y[n, f, o] = sum_{c, k} x[n, c, (o + p - k d) / s] * w[c, f, k]        where s divides, and the index is one of the image
//!
//! Without dilation, only every s-th element of the kernel reaches a result, `j`-th of which is
//!
//!     k = (o + p) mod s + s j        x[n, c, (o + p) div s - j]
//!
//! so that a stride costs nothing (Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016).

use super::TeCall;
use super::convolution::Groups;
use super::padding::within;
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalar, Scalars};
use fusion_operators::Dim;
use fusion_operators::ops::window::{Axis, Window};

/// A spatial axis.
struct Reach<'a> {
    axis: &'a Axis,
    kernel: u64,
    /// The image's extent.
    extent: &'a Dim,
}

impl Reach<'_> {
    fn goes_by_phases(&self) -> bool {
        self.axis.dilation == 1
    }

    /// Elements of the kernel that may reach a result.
    fn taps(&self) -> u64 {
        if self.goes_by_phases() { self.kernel.div_ceil(self.axis.stride) } else { self.kernel }
    }

    /// The element of the image and that of the kernel which meet in result `o` at a tap, and when they do.
    fn meet<'c>(
        &self,
        s: &Scalars<'c>,
        o: Value<'c>,
        tap: Value<'c>,
    ) -> (Value<'c>, Value<'c>, Vec<Scalar<'c>>) {
        let stride = self.axis.stride as i64;
        let shifted = s.index_affine(o, 1, self.axis.begin as i64);
        let mut conditions = Vec::new();
        let (from, k) = if self.goes_by_phases() {
            let from = s.index_sub(s.index_div(shifted, stride), tap);
            let k = s.index_add(s.index_mod(shifted, stride), s.index_affine(tap, stride, 0));
            if !self.kernel.is_multiple_of(self.axis.stride) {
                conditions.push(s.index_compare(Compare::Less, k, s.index(self.kernel as i64)));
            }
            (from, k)
        } else {
            // What is divided must not be negative: it is counted from a number of strides before the image.
            let back = self.axis.span().unwrap_or(1).div_ceil(self.axis.stride) as i64;
            let gap = s.index_affine(tap, -(self.axis.dilation as i64), back * stride);
            let gap = s.index_add(shifted, gap);
            if stride > 1 {
                conditions.push(s.index_compare(Compare::Equal, s.index_mod(gap, stride), s.index(0)));
            }
            (s.index_affine(s.index_div(gap, stride), 1, -back), tap)
        };
        conditions.extend(within(s, from, self.extent));
        (from, k, conditions)
    }
}

/// The result of a call whose weight is known.
pub(super) fn build<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, window: &Window) -> Value<'c> {
    let weight = call.shape(1);
    let groups = Groups { count: window.groups, data: weight[0] / window.groups, result: weight[1] };
    let axes = window.axes.iter().zip(&weight[2..]).zip(&call.dims(0)[2..]);
    let axes: Vec<Reach> = axes.map(|((axis, &kernel), extent)| Reach { axis, kernel, extent }).collect();
    let mut reduce = vec![groups.data];
    reduce.extend(axes.iter().map(Reach::taps));
    kernel.reduce(call.op.name, &call.results[0], &reduce, Combine::Sum, |s, at, over| {
        let channel = groups.channel(s, at[1], over[0]);
        let filter = if groups.count == 1 { at[1] } else { s.index_mod(at[1], groups.result.max(1) as i64) };
        let (mut of_data, mut of_weight) = (vec![at[0], channel], vec![channel, filter]);
        let mut conditions = Vec::new();
        for ((axis, &o), &tap) in axes.iter().zip(&at[2..]).zip(&over[1..]) {
            let (from, k, meets) = axis.meet(s, o, tap);
            of_data.push(from);
            of_weight.push(k);
            conditions.extend(meets);
        }
        let zero = |operand: usize| s.int(0, call.types[operand].dtype);
        let Some(inside) = conditions.into_iter().reduce(|a, b| s.and(a, b)) else { return zero(0) };
        let data = s.load_if(inside, call.operands[0], &of_data, zero(0));
        s.mul(data, s.load_if(inside, call.operands[1], &of_weight, zero(1)))
    })
}
