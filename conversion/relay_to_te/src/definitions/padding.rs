//! Padded copies of data, so that what slides over them needs no conditions:
//!
//! `y[..., begin + i * step, ...] = x[..., i, ...]`, and a neutral element elsewhere.

use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Neutral, Scalar, Scalars, neutral};
use fusion_operators::ops::window::{Axis, Window};
use fusion_operators::{DType, Dim, TensorType};

/// Where the elements of an axis stand in the copy.
#[derive(Clone, Debug)]
pub struct Place {
    /// Index in the copy of the first element; negative when the copy starts after it.
    pub begin: i64,
    /// Distance in the copy of two elements.
    pub step: u64,
    /// Extent of the copy; one that is known at run time only is that of the data.
    pub extent: Dim,
}

impl Place {
    /// The axis as it is.
    pub fn kept(extent: Dim) -> Place {
        Place { begin: 0, step: 1, extent }
    }

    /// The index of the data that stands at index `i` of the copy, and when there is one.
    fn source<'c>(&self, s: &Scalars<'c>, i: Value<'c>, last: i64) -> (Value<'c>, Vec<Scalar<'c>>) {
        let Some(extent) = self.extent.known() else { return (i, Vec::new()) };
        let zero_based = s.index_affine(i, 1, -self.begin);
        let mut conditions = Vec::new();
        if self.begin > 0 {
            conditions.push(s.index_compare(Compare::GreaterEqual, zero_based, s.index(0)));
        }
        if i128::from(extent) - 1 - i128::from(self.begin) > i128::from(last) {
            conditions.push(s.index_compare(Compare::LessEqual, zero_based, s.index(last)));
        }
        if self.step == 1 {
            return (zero_based, conditions);
        }
        // Quotients are of numbers that are not negative.
        let inside = if conditions.is_empty() { zero_based } else { s.index_clamp(zero_based, 0, last) };
        let step = self.step as i64;
        conditions.push(s.index_compare(Compare::Equal, s.index_mod(inside, step), s.index(0)));
        (s.index_div(inside, step), conditions)
    }
}

/// The copy of `data`, one place an axis, filled with what changes nothing; the data itself when all axes stay.
pub fn pad<'c>(
    kernel: &Kernel<'c>,
    (data, ty): (Value<'c>, &TensorType),
    places: &[Place],
    how: Combine,
) -> Result<Value<'c>, String> {
    let at_most_one = |n: &Dim| n.known().is_some_and(|n| n < 2);
    let stays = |(p, n): (&Place, &Dim)| p.begin == 0 && p.extent == *n && (p.step == 1 || at_most_one(n));
    if places.iter().zip(&ty.dims).all(stays) {
        return Ok(data);
    }
    let padded = TensorType::new(places.iter().map(|p| p.extent.clone()).collect(), ty.dtype);
    // What is not known counts as 1 here; that of all extents is checked when they are known.
    let least =
        TensorType::fixed(&padded.dims.iter().map(|n| n.known().unwrap_or(1)).collect::<Vec<_>>(), ty.dtype);
    if least.bytes().is_none_or(|n| i64::try_from(n).is_err()) {
        return Err(format!("pads data of type {ty} to {padded}, which is more than can be addressed"));
    }
    // The index in the copy, counted from the first element's, of the last element.
    let last = |(place, n): (&Place, &Dim)| {
        let n = n.known().unwrap_or(1);
        let last = n.saturating_sub(1).checked_mul(place.step).and_then(|n| i64::try_from(n).ok());
        last.ok_or_else(|| {
            format!("spreads an extent of {n} by {}, which is more than can be addressed", place.step)
        })
    };
    let lasts = places.iter().zip(&ty.dims).map(last).collect::<Result<Vec<_>, _>>()?;
    Ok(kernel.compute("pad", &padded, |s, axes| {
        let fill = filler(s, how, ty.dtype);
        if ty.dims.contains(&Dim::Static(0)) {
            return fill;
        }
        let sources =
            axes.iter().zip(places).zip(&lasts).map(|((&i, place), &last)| place.source(s, i, last));
        let (indices, conditions): (Vec<_>, Vec<_>) = sources.unzip();
        match conditions.into_iter().flatten().reduce(|a, b| s.and(a, b)) {
            Some(inside) => s.load_if(inside, data, &indices, fill),
            None => s.load(data, &indices),
        }
    }))
}

/// `[N, C, spatial...]` padded as far as that many windows reach, from the beginning of the first on.
pub fn pad_for_windows<'c>(
    kernel: &Kernel<'c>,
    (data, ty): (Value<'c>, &TensorType),
    window: &Window,
    windows: &[u64],
    how: Combine,
) -> Result<Value<'c>, String> {
    let spatial: Vec<usize> = (2..ty.rank()).collect();
    pad_windows_at(kernel, (data, ty), &spatial, (window, windows), how)
}

/// The same of data that has the axes of windows at those places.
pub fn pad_windows_at<'c>(
    kernel: &Kernel<'c>,
    (data, ty): (Value<'c>, &TensorType),
    spatial: &[usize],
    (window, windows): (&Window, &[u64]),
    how: Combine,
) -> Result<Value<'c>, String> {
    let mut places: Vec<Place> = ty.dims.iter().cloned().map(Place::kept).collect();
    for ((&at, axis), &count) in spatial.iter().zip(&window.axes).zip(windows) {
        let reach = reach(axis, count)?;
        let Some(place) = places.get_mut(at) else { continue };
        // What no window reaches at the end is left out of a copy, but needs none.
        if axis.begin > 0 || place.extent.known().is_none_or(|extent| reach > extent) {
            *place = Place { begin: axis.begin as i64, step: 1, extent: Dim::Static(reach) };
        }
    }
    pad(kernel, (data, ty), &places, how)
}

/// True where windows slide over extents that are known at run time only.
pub fn is_dynamic(ty: &TensorType) -> bool {
    ty.dims.iter().skip(2).any(|dim| dim.known().is_none())
}

/// What kernel position `k` of window `o` reads in data that is not padded; a neutral element outside of it.
pub fn load_in_window<'c>(
    s: &Scalars<'c>,
    (data, ty): (Value<'c>, &TensorType),
    window: &Window,
    (lead, o, k): (&[Value<'c>], &[Value<'c>], &[Value<'c>]),
    how: Combine,
) -> Scalar<'c> {
    let (mut at, mut inside) = (lead.to_vec(), s.int(1, DType::Bool));
    let places = window_indices(s, window, o, k);
    for ((place, axis), dim) in places.into_iter().zip(&window.axes).zip(&ty.dims[2..]) {
        let place = s.index_affine(place, 1, -(axis.begin as i64));
        inside = within(s, place, dim).into_iter().fold(inside, |all, one| s.and(all, one));
        at.push(place);
    }
    s.load_if(inside, data, &at, filler(s, how, ty.dtype))
}

/// When an index is one of an axis.
pub fn within<'c>(s: &Scalars<'c>, index: Value<'c>, extent: &Dim) -> [Scalar<'c>; 2] {
    let not_before = s.index_compare(Compare::GreaterEqual, index, s.index(0));
    [not_before, s.index_compare(Compare::Less, index, s.extent(extent))]
}

/// What changes nothing.
fn filler<'c>(s: &Scalars<'c>, how: Combine, dtype: DType) -> Scalar<'c> {
    match neutral(how, dtype) {
        Neutral::Float(v) => s.float(v, dtype),
        Neutral::Int(v) => s.int(v, dtype),
    }
}

/// Extent that windows read along an axis, from the beginning of the first on.
pub fn reach(axis: &Axis, windows: u64) -> Result<u64, String> {
    let Some(gaps) = windows.checked_sub(1) else { return Ok(0) };
    let reach = axis.span().and_then(|span| gaps.checked_mul(axis.stride)?.checked_add(span));
    reach.filter(|&n| i64::try_from(n).is_ok()).ok_or_else(|| {
        format!("has {windows} windows of stride {}, which reach further than can be addressed", axis.stride)
    })
}

/// The spatial indices that kernel positions `k` of windows `o` read in padded data: `o * stride + k * dilation`.
pub fn window_indices<'c>(
    s: &Scalars<'c>,
    window: &Window,
    o: &[Value<'c>],
    k: &[Value<'c>],
) -> Vec<Value<'c>> {
    let one = |((axis, &o), &k): ((&Axis, &Value<'c>), &Value<'c>)| {
        s.index_add(s.index_affine(o, axis.stride as i64, 0), s.index_affine(k, axis.dilation as i64, 0))
    };
    window.axes.iter().zip(o).zip(k).map(one).collect()
}
