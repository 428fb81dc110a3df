//! Index arithmetic that the families share: `flat = sum(i[a] * stride[a])`, and the place an index operand names.

use fusion_dialects::Value;
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::te::{Compare, Scalar, Scalars};
use fusion_operators::Dim;

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
pub fn from_front<'c>(s: &Scalars<'c>, index: Scalar<'c>, extent: &Dim) -> Value<'c> {
    let at = s.to_index(index);
    let negative = s.index_compare(Compare::Less, at, s.index(0));
    let from_back = match extent.known() {
        Some(known) => s.index_affine(at, 1, known as i64),
        None => s.index_add(at, s.extent(extent)),
    };
    s.index_select(negative, from_back, at)
}

/// The place an index operand names, moved to the nearer end of the axis when it lies outside.
pub fn clamped<'c>(s: &Scalars<'c>, index: Scalar<'c>, extent: &Dim) -> Value<'c> {
    let place = from_front(s, index, extent);
    match extent.known() {
        Some(known) => s.index_clamp(place, 0, known as i64 - 1),
        None => s.index_min(s.index_max(place, s.index(0)), s.index_affine(s.extent(extent), 1, -1)),
    }
}

/// A number of elements: known, or computed from extents when the kernel runs.
#[derive(Clone, Copy)]
pub enum Size<'c> {
    /// Known.
    Known(u64),
    /// An index.
    Dynamic(Value<'c>),
}

impl<'c> Size<'c> {
    /// The product of extents.
    pub fn of(s: &Scalars<'c>, dims: &[Dim]) -> Size<'c> {
        let known = dims.iter().filter_map(Dim::known).fold(1u64, |n, d| n.wrapping_mul(d));
        let dynamic = dims.iter().filter(|dim| dim.known().is_none()).map(|dim| s.extent(dim));
        match dynamic.reduce(|a, b| s.index_mul(a, b)) {
            None => Size::Known(known),
            Some(product) => Size::Dynamic(s.index_affine(product, known as i64, 0)),
        }
    }

    /// The number as an index.
    pub fn value(self, s: &Scalars<'c>) -> Value<'c> {
        match self {
            Size::Known(known) => s.index(known as i64),
            Size::Dynamic(value) => value,
        }
    }

    /// `i` times the number.
    pub fn times(self, s: &Scalars<'c>, i: Value<'c>) -> Value<'c> {
        match self {
            Size::Known(known) => s.index_affine(i, known as i64, 0),
            Size::Dynamic(value) => s.index_mul(i, value),
        }
    }

    /// `number - 1 - i`.
    pub fn mirrored(self, s: &Scalars<'c>, i: Value<'c>) -> Value<'c> {
        match self {
            Size::Known(known) => s.index_affine(i, -1, known as i64 - 1),
            Size::Dynamic(value) => s.index_sub(s.index_affine(value, 1, -1), i),
        }
    }

    /// A serial loop that often.
    pub fn for_(
        self,
        loops: &Loops<'c>,
        inits: &[Value<'c>],
        body: impl FnOnce(&Loops<'c>, Value<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        match self {
            Size::Known(known) => loops.for_(known, LoopKind::Serial, inits, body),
            Size::Dynamic(value) => loops.upto(value, LoopKind::Serial, inits, body),
        }
    }

    /// Such a loop that carries nothing.
    pub fn each(self, loops: &Loops<'c>, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
        self.for_(loops, &[], |inner, i, _| {
            body(inner, i);
            Vec::new()
        });
    }

    /// As [`Self::each`], of iterations that are independent: nothing that one writes is read or written by another.
    pub fn each_independent(self, loops: &Loops<'c>, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
        match self {
            Size::Known(known) => loops.each_independent(known, body),
            // Not known when threads are given out.
            Size::Dynamic(_) => self.each(loops, body),
        }
    }
}

/// The row-major number of a place; where axes are left out, that of the first place in them.
pub fn number<'c>(s: &Scalars<'c>, places: &[Value<'c>], dims: &[Dim]) -> Value<'c> {
    let known: Option<Vec<u64>> = dims.iter().map(Dim::known).collect();
    if let Some(known) = known {
        return flat(s, places, &strides(&known));
    }
    let inner = Size::of(s, &dims[places.len()..]);
    let join = |so_far: Value<'c>, (&place, dim): (&Value<'c>, &Dim)| {
        s.index_add(Size::of(s, std::slice::from_ref(dim)).times(s, so_far), place)
    };
    let Some((&first, rest)) = places.split_first() else { return s.index(0) };
    inner.times(s, rest.iter().zip(&dims[1..]).fold(first, join))
}

/// Loops over all indices of a shape, in row-major order; an axis of extent 1 needs no loop. Those of the axes that are named are
/// independent: of different indices there, nothing that is written is read or written by the other.
pub fn each_index<'c>(
    loops: &Loops<'c>,
    sizes: &[Size<'c>],
    independent: &dyn Fn(usize) -> bool,
    body: &mut dyn FnMut(&Loops<'c>, &[Value<'c>]),
) {
    nested(loops, sizes, independent, &mut Vec::new(), body);
}

fn nested<'c>(
    loops: &Loops<'c>,
    sizes: &[Size<'c>],
    independent: &dyn Fn(usize) -> bool,
    outer: &mut Vec<Value<'c>>,
    body: &mut dyn FnMut(&Loops<'c>, &[Value<'c>]),
) {
    let axis = outer.len();
    let Some(&size) = sizes.get(axis) else { return body(loops, outer) };
    let mut enter = |inner: &Loops<'c>, i| {
        outer.push(i);
        nested(inner, sizes, independent, outer, body);
        outer.pop();
    };
    match size {
        Size::Known(1) => enter(loops, loops.scalars().index(0)),
        _ if independent(axis) => size.each_independent(loops, enter),
        _ => size.each(loops, enter),
    }
}

/// Lanes of the loops that are vectors.
const LANES: u64 = 16;

/// Independent loops over so many iterations that read and write side by side: vectors, and the rest of them.
pub fn side_by_side<'c>(loops: &Loops<'c>, count: u64, body: &mut dyn FnMut(&Loops<'c>, Value<'c>)) {
    let (blocks, rest) = (count / LANES, count % LANES);
    let mut lanes = |loops: &Loops<'c>, lanes: u64, first: &dyn Fn(&Scalars<'c>, Value<'c>) -> Value<'c>| {
        loops.for_independent(lanes, LoopKind::Vectorized, |l, lane| body(l, first(&l.scalars(), lane)));
    };
    if blocks > 0 {
        loops.each_independent(blocks, |l, block| {
            lanes(l, LANES, &|s, lane| s.index_add(s.index_affine(block, LANES as i64, 0), lane));
        });
    }
    if rest > 0 {
        lanes(loops, rest, &|s, lane| s.index_affine(lane, 1, (blocks * LANES) as i64));
    }
}

/// An axis of a shape, with the number of elements before and after it: a line of elements is
/// `outer * extent * inner + i * inner + within`.
#[derive(Clone, Copy)]
pub struct Lines<'c> {
    /// Product of the extents before the axis.
    pub outer: Size<'c>,
    /// Extent of the axis.
    pub extent: Size<'c>,
    /// Product of the extents after it.
    pub inner: Size<'c>,
    /// Elements from the begin of a line to that of the next outer one.
    apart: Size<'c>,
}

impl<'c> Lines<'c> {
    /// The lines along an axis.
    pub fn along(s: &Scalars<'c>, dims: &[Dim], axis: usize) -> Lines<'c> {
        Lines {
            outer: Size::of(s, &dims[..axis]),
            extent: Size::of(s, &dims[axis..=axis]),
            inner: Size::of(s, &dims[axis + 1..]),
            apart: Size::of(s, &dims[axis..]),
        }
    }

    /// The flat index of the first element of a line.
    pub fn first(&self, s: &Scalars<'c>, outer: Value<'c>, within: Value<'c>) -> Value<'c> {
        s.index_add(self.apart.times(s, outer), within)
    }

    /// The flat index of element `i` of the line that begins at `first`.
    pub fn element(&self, s: &Scalars<'c>, first: Value<'c>, i: Value<'c>) -> Value<'c> {
        s.index_add(first, self.inner.times(s, i))
    }
}
