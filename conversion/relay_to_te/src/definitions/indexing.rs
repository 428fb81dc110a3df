//! Reading at computed indices: `y[i] = x[p(i, indices)]`. A negative index counts from the back; one out of range reads
//! the nearer end, and an element of an axis without elements reads as 0.
//!
//!     gather            y[a..., i..., b...] = x[a..., indices[i...], b...]
//!     gather_elements   y[i] = x[i with indices[i] at axis]
//!     gather_nd         y[b..., i..., r...] = x[b..., indices[b..., i..., :]..., r...]
//!     one_hot           y[i with j at axis] = indices[i] == j ? on : off

use super::indices::clamped;
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Compare, Kernel, Scalars};
use fusion_operators::dtype::Class;
use fusion_operators::ops::indexing::*;
use fusion_operators::{DType, Dim, Violation};

pub const TABLE: Table =
    &[(&GATHER, gather), (&GATHER_ELEMENTS, gather_elements), (&GATHER_ND, gather_nd), (&ONE_HOT, one_hot)];

fn said(violation: Violation) -> String {
    violation.to_string()
}

/// `y[i] = x[p(i)]`, where the indices name places on the axes `named`.
fn gathered<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    named: std::ops::Range<usize>,
    places: impl FnOnce(&Scalars<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
) -> Built<'c> {
    let (x, dtype) = (call.operands[0], call.types[0].dtype);
    let named = &call.dims(0)[named];
    let dynamic: Vec<&Dim> = named.iter().filter(|dim| dim.known().is_none()).collect();
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        if named.contains(&Dim::Static(0)) {
            return s.int(0, s.compute_type(dtype));
        }
        let places = places(s, axes);
        let has_elements = |dim: &&Dim| s.index_compare(Compare::Less, s.index(0), s.extent(dim));
        match dynamic.iter().map(has_elements).reduce(|a, b| s.and(a, b)) {
            None => s.load(x, &places),
            Some(any) => s.load_if(any, x, &places, s.int(0, dtype)),
        }
    });
    Ok(vec![result])
}

fn gather<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(said)?;
    let (extent, rank) = (&call.dims(0)[axis], call.types[1].rank());
    gathered(kernel, call, axis..axis + 1, |s, axes| {
        let (before, rest) = axes.split_at(axis);
        let (at, after) = rest.split_at(rank);
        let place = clamped(s, s.load(call.operands[1], at), extent);
        [before, &[place], after].concat()
    })
}

fn gather_elements<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(said)?;
    let extent = &call.dims(0)[axis];
    gathered(kernel, call, axis..axis + 1, |s, axes| {
        let mut places = axes.to_vec();
        places[axis] = clamped(s, s.load(call.operands[1], axes), extent);
        places
    })
}

fn gather_nd<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let batch = batch_dims(&call.facts()).map_err(said)?;
    let indices = call.dims(1);
    let outer = indices.len().saturating_sub(1);
    let k = indices.last().and_then(Dim::known).map_or(0, |k| k as usize);
    let extents = &call.dims(0)[batch..batch + k];
    gathered(kernel, call, batch..batch + k, |s, axes| {
        let (of_indices, rest) = axes.split_at(outer);
        let mut places = axes[..batch].to_vec();
        for (j, extent) in extents.iter().enumerate() {
            let index = s.load(call.operands[1], &[of_indices, &[s.index(j as i64)]].concat());
            places.push(clamped(s, index, extent));
        }
        places.extend(rest);
        places
    })
}

fn one_hot<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = one_hot_axis(&call.facts()).map_err(said)?;
    let depth = call.results[0].dims[axis].known().ok_or("has a depth that is not known")? as i64;
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let mut at = axes.to_vec();
        let i = at.remove(axis);
        let index = s.load(call.operands[0], &at);
        let wide = s.cast(index, DType::I64);
        let is = |place| s.compare(Compare::Equal, wide, s.from_index(place, DType::I64));
        let mut is_on = is(i);
        if index.dtype.class() == Class::Signed {
            is_on = s.or(is_on, is(s.index_affine(i, 1, -depth)));
        }
        s.select(is_on, s.load(call.operands[1], &[]), s.load(call.operands[2], &[]))
    });
    Ok(vec![result])
}
