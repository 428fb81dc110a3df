//! Reductions: `y[o...] = f over r of x[o..., r...]`; of nothing, the neutral element of f.
//!
//!     reduce_mean      y[o...] = (sum over r of x[o..., r...]) / count
//!     argmax, argmin   f chooses the pair (x[o..., r...], r) that is ahead; the result is its second half

use super::mean::count;
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Neutral, Scalar, Scalars, neutral};
use fusion_operators::ops::reduction::*;
use fusion_operators::{DType, Dim, TensorType};

pub const TABLE: Table = &[
    (&REDUCE_SUM, |kernel, call| reduce(kernel, call, Combine::Sum)),
    (&REDUCE_PROD, |kernel, call| reduce(kernel, call, Combine::Product)),
    (&REDUCE_MAX, |kernel, call| reduce(kernel, call, Combine::Max)),
    (&REDUCE_MIN, |kernel, call| reduce(kernel, call, Combine::Min)),
    (&REDUCE_ALL, |kernel, call| reduce(kernel, call, Combine::All)),
    (&REDUCE_ANY, |kernel, call| reduce(kernel, call, Combine::Any)),
    (&REDUCE_MEAN, mean),
    (&ARGMAX, |kernel, call| arg(kernel, call, Compare::Greater)),
    (&ARGMIN, |kernel, call| arg(kernel, call, Compare::Less)),
];

/// The axes of the operand of a reduction.
struct Axes {
    /// Extents of the operand.
    shape: Vec<Dim>,
    /// The axes reduced.
    reduced: Vec<usize>,
    /// Whether the result keeps them with extent 1.
    keepdims: bool,
}

impl Axes {
    /// The axes reduced whose extent is not 1, in order: those that need a loop.
    fn looped(&self) -> Vec<usize> {
        (0..self.shape.len())
            .filter(|a| self.reduced.contains(a) && self.shape[*a] != Dim::Static(1))
            .collect()
    }

    fn extents(&self) -> Vec<Dim> {
        self.looped().into_iter().map(|a| self.shape[a].clone()).collect()
    }

    /// The place in the operand, from the indices of the result and of the looped axes.
    fn place<'c>(&self, s: &Scalars<'c>, axes: &[Value<'c>], over: &[Value<'c>]) -> Vec<Value<'c>> {
        let (mut axes, mut over) = (axes.iter(), over.iter());
        let mut place = |a: usize| {
            let reduced = self.reduced.contains(&a);
            let kept = if !reduced || self.keepdims { axes.next() } else { None };
            let inner = if reduced && self.shape[a] != Dim::Static(1) { over.next() } else { None };
            let chosen = if reduced { inner } else { kept };
            chosen.copied().unwrap_or_else(|| s.index(0))
        };
        (0..self.shape.len()).map(&mut place).collect()
    }
}

fn axes_of(call: &TeCall) -> Result<Axes, String> {
    let reduced = reduced_axes(&call.facts()).map_err(|violation| violation.to_string())?;
    Ok(Axes { shape: call.dims(0).to_vec(), reduced, keepdims: call.attrs.flag("keepdims") })
}

/// The reduction, of that type.
fn combined<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    axes: &Axes,
    ty: &TensorType,
    how: Combine,
) -> Value<'c> {
    let (x, extents) = (call.operands[0], axes.extents());
    if extents.is_empty() {
        return kernel.compute(call.op.name, ty, |s, i| s.load(x, &axes.place(s, i, &[])));
    }
    kernel.reduce(call.op.name, ty, &extents, how, |s, i, over| s.load(x, &axes.place(s, i, over)))
}

fn reduce<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, how: Combine) -> Built<'c> {
    Ok(vec![combined(kernel, call, &axes_of(call)?, &call.results[0], how)])
}

fn mean<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axes = axes_of(call)?;
    let ty = &call.results[0];
    let wide = ty.with_dtype(kernel.compute_type(ty.dtype));
    if axes.extents().is_empty() {
        return Ok(vec![combined(kernel, call, &axes, ty, Combine::Sum)]);
    }
    let sum = combined(kernel, call, &axes, &wide, Combine::Sum);
    // NaN of nothing, as 0 / 0 is.
    Ok(vec![kernel.compute("mean", ty, |s, i| s.div(s.load(sum, i), count(s, &axes.extents(), wide.dtype)))])
}

/// A value and its index.
type Pair<'c> = (Scalar<'c>, Scalar<'c>);

fn arg<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, how: Compare) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let last = call.attrs.flag("select_last");
    let axes =
        Axes { shape: call.dims(0).to_vec(), reduced: vec![axis], keepdims: call.attrs.flag("keepdims") };
    let (x, dtype) = (call.operands[0], kernel.compute_type(call.types[0].dtype));
    let (extents, index) = (axes.extents(), &call.results[0]);
    if extents.is_empty() {
        return Ok(vec![kernel.compute(call.op.name, index, |s, _| s.int(0, DType::I64))]);
    }
    let extreme = neutral(if how == Compare::Greater { Combine::Max } else { Combine::Min }, dtype);
    // Vectors of places have as many lanes as those of elements where they can: a mask that goes from one width to another takes longer
    // than all else.
    let extent = call.dims(0)[axis].known();
    let is_short = extent.is_some_and(|extent| extent < i32::MAX as u64) && dtype.size() <= 4;
    let (counted, most) = if is_short { (DType::I32, i64::from(i32::MAX)) } else { (DType::I64, i64::MAX) };
    // Where all elements have the neutral value, this index loses against theirs.
    let nowhere = if last { -1 } else { most };
    let pairs = kernel.stage(
        call.op.name,
        &[index.with_dtype(dtype), index.with_dtype(counted)],
        &extents,
        &[extreme, Neutral::Int(nowhere)],
        |s, i, over| vec![s.load(x, &axes.place(s, i, over)), s.from_index(over[0], counted)],
        |s, a, b| {
            let takes = second_is_ahead(s, how, last, (a[0], a[1]), (b[0], b[1]));
            vec![s.select(takes, b[0], a[0]), s.select(takes, b[1], a[1])]
        },
    );
    if !is_short {
        return Ok(vec![pairs[1]]);
    }
    Ok(vec![kernel.compute(call.op.name, index, |s, i| s.cast(s.load(pairs[1], i), DType::I64))])
}

/// Whether the second of two pairs is chosen: a total order, so that any grouping of the pairs gives one result.
fn second_is_ahead<'c>(s: &Scalars<'c>, how: Compare, last: bool, a: Pair<'c>, b: Pair<'c>) -> Scalar<'c> {
    let later = if last { Compare::Greater } else { Compare::Less };
    let tied = s.and(s.not(more_extreme(s, how, a.0, b.0)), s.compare(later, b.1, a.1));
    s.or(more_extreme(s, how, b.0, a.0), tied)
}

/// Whether a is greater (or less) than b; NaN is more extreme than any number.
pub fn more_extreme<'c>(s: &Scalars<'c>, how: Compare, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    let beyond = s.compare(how, a, b);
    if !a.dtype.is_float() {
        return beyond;
    }
    let only_a = s.and(s.compare(Compare::NotEqual, a, a), s.compare(Compare::Equal, b, b));
    s.or(beyond, only_a)
}
