//! Index arithmetic that the families share: `flat = sum(i[a] * stride[a])`, and the place an index operand names.

use fusion_dialects::Value;
use fusion_dialects::loops::Loops;
use fusion_dialects::te::{Compare, Scalar, Scalars};

/// Row-major strides. Beside an empty axis, where no element is, they may wrap.
pub fn strides(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for a in (1..shape.len()).rev() {
        strides[a - 1] = strides[a].wrapping_mul(shape[a] as i64);
    }
    strides
}

/// `sum(places[a] * strides[a])`; 0 without axes.
pub fn flat<'c>(s: &Scalars<'c>, places: &[Value<'c>], strides: &[i64]) -> Value<'c> {
    let terms = places.iter().zip(strides).map(|(&i, &stride)| s.index_affine(i, stride, 0));
    terms.reduce(|sum, term| s.index_add(sum, term)).unwrap_or_else(|| s.index(0))
}

/// The place an index operand names when negative ones count from the back; it may lie outside of the axis.
pub fn from_front<'c>(s: &Scalars<'c>, index: Scalar<'c>, extent: u64) -> Value<'c> {
    let at = s.to_index(index);
    let negative = s.index_compare(Compare::Less, at, s.index(0));
    s.index_select(negative, s.index_affine(at, 1, extent as i64), at)
}

/// The place an index operand names, moved to the nearer end of the axis when it lies outside.
pub fn clamped<'c>(s: &Scalars<'c>, index: Scalar<'c>, extent: u64) -> Value<'c> {
    s.index_clamp(from_front(s, index, extent), 0, extent as i64 - 1)
}

/// Loops over all indices of a shape, in row-major order; an axis of extent 1 needs no loop. Those of the axes that are named are
/// independent: of different indices there, nothing that is written is read or written by the other.
pub fn each_index<'c>(
    loops: &Loops<'c>,
    shape: &[u64],
    independent: &dyn Fn(usize) -> bool,
    body: &mut dyn FnMut(&Loops<'c>, &[Value<'c>]),
) {
    nested(loops, shape, independent, &mut Vec::new(), body);
}

fn nested<'c>(
    loops: &Loops<'c>,
    shape: &[u64],
    independent: &dyn Fn(usize) -> bool,
    outer: &mut Vec<Value<'c>>,
    body: &mut dyn FnMut(&Loops<'c>, &[Value<'c>]),
) {
    let axis = outer.len();
    let Some(&extent) = shape.get(axis) else { return body(loops, outer) };
    let mut enter = |inner: &Loops<'c>, i| {
        outer.push(i);
        nested(inner, shape, independent, outer, body);
        outer.pop();
    };
    match extent {
        1 => enter(loops, loops.scalars().index(0)),
        _ if independent(axis) => loops.each_independent(extent, enter),
        _ => loops.each(extent, enter),
    }
}

/// An axis of a shape, with the number of elements before and after it: a line of elements is
/// `outer * extent * inner + i * inner + within`.
#[derive(Clone, Copy)]
pub struct Lines {
    /// Product of the extents before the axis.
    pub outer: u64,
    /// Extent of the axis.
    pub extent: u64,
    /// Product of the extents after it.
    pub inner: u64,
}

impl Lines {
    /// The lines along an axis.
    pub fn along(shape: &[u64], axis: usize) -> Lines {
        let product = |extents: &[u64]| extents.iter().fold(1u64, |n, &d| n.wrapping_mul(d));
        Lines { outer: product(&shape[..axis]), extent: shape[axis], inner: product(&shape[axis + 1..]) }
    }

    /// The flat index of the first element of a line.
    pub fn first<'c>(&self, s: &Scalars<'c>, outer: Value<'c>, within: Value<'c>) -> Value<'c> {
        flat(s, &[outer, within], &[self.extent.wrapping_mul(self.inner) as i64, 1])
    }

    /// The flat index of element `i` of the line that begins at `first`.
    pub fn element<'c>(&self, s: &Scalars<'c>, first: Value<'c>, i: Value<'c>) -> Value<'c> {
        s.index_add(first, s.index_affine(i, self.inner as i64, 0))
    }
}
