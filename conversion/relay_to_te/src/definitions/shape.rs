//! Operators that move elements by their position: `y[i] = x[p(i)]`.
//!
//!     reshape, squeeze, expand_dims   p(i) = the place whose row-major number is that of i
//!     transpose                       p(i)[axes[a]] = i[a]
//!     broadcast_to                    p(i)[a] = i[a], 0 where the extent is 1
//!     split                           p(i) = i, moved by the sections before along the axis
//!     slice                           p(i)[a] = begin[a] + i[a] * stride[a]
//!     tile                            p(i)[a] = i[a] mod extent[a]
//!     reverse                         p(i)[a] = extent[a] - 1 - i[a]
//!     concat                          x_k[i - begin_k] for the k with begin_k <= i < end_k

use super::elementwise::broadcast_indices;
use super::indices::{Size, flat, strides};
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Compare, Kernel, Scalars};
use fusion_operators::ops::shape::*;
use fusion_operators::relation::{axes_or_all, checked_axis, int_attr};
use fusion_operators::{Dim, TensorType, Violation};

pub const TABLE: Table = &[
    (&RESHAPE, reshape),
    (&SQUEEZE, reshape),
    (&EXPAND_DIMS, reshape),
    (&TRANSPOSE, transpose),
    (&BROADCAST_TO, broadcast_to),
    (&CONCAT, concat),
    (&SPLIT, split),
    (&SLICE, slice),
    (&TILE, tile),
    (&REVERSE, reverse),
];

/// `y[i] = x[p(i)]`.
fn moved<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    places: impl FnOnce(&Scalars<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
) -> Built<'c> {
    let x = call.operands[0];
    Ok(vec![kernel.compute(call.op.name, &call.results[0], |s, axes| s.load(x, &places(s, axes)))])
}

fn said(violation: Violation) -> String {
    violation.to_string()
}

fn reshape<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (to, from) = (call.result_shape(0), call.shape(0));
    moved(kernel, call, |s, axes| {
        let mut places = vec![None; from.len()];
        for (ours, theirs) in groups(&to, &from) {
            let extents = |shape: &[u64], run: &[usize]| run.iter().map(|&a| shape[a]).collect::<Vec<_>>();
            let given: Vec<_> = ours.iter().map(|&a| axes[a]).collect();
            let number = flat(s, &given, &strides(&extents(&to, &ours)));
            for (k, (&a, stride)) in theirs.iter().zip(strides(&extents(&from, &theirs))).enumerate() {
                let quotient = s.index_div(number, stride);
                // The number of elements bounds the quotient of the first axis.
                places[a] = Some(if k == 0 { quotient } else { s.index_mod(quotient, from[a] as i64) });
            }
        }
        places.into_iter().map(|p| p.unwrap_or_else(|| s.index(0))).collect()
    })
}

/// The shortest runs of axes of both shapes that hold the same number of elements, `2x3x4` and `6x2x2` as
/// `({0, 1}, {0})` and `({2}, {1, 2})`. Axes of extent 1 are in none; without elements there are no runs.
fn groups(to: &[u64], from: &[u64]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups = Vec::new();
    if to.contains(&0) || from.contains(&0) {
        return groups;
    }
    let mut ours = (0..to.len()).filter(|&a| to[a] != 1);
    let mut theirs = (0..from.len()).filter(|&a| from[a] != 1);
    while let (Some(i), Some(j)) = (ours.next(), theirs.next()) {
        let (mut left, mut right) = (vec![i], vec![j]);
        let (mut m, mut n) = (to[i], from[j]);
        while m != n {
            let (run, elements, shape, more) = if m < n {
                (&mut left, &mut m, to, ours.next())
            } else {
                (&mut right, &mut n, from, theirs.next())
            };
            let Some(a) = more else { break };
            *elements = elements.saturating_mul(shape[a]);
            run.push(a);
        }
        groups.push((left, right));
    }
    groups
}

fn transpose<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let permutation = permutation(&call.facts()).map_err(said)?;
    moved(kernel, call, |_, axes| {
        let mut places = axes.to_vec();
        for (&to, &i) in permutation.iter().zip(axes) {
            places[to] = i;
        }
        places
    })
}

fn broadcast_to<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (from, to) = (call.dims(0), &call.results[0].dims);
    moved(kernel, call, |s, axes| broadcast_indices(s, axes, from, to))
}

fn concat<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let result = &call.results[0];
    let axis = int_attr(&call.facts(), "axis", 2).and_then(|a| checked_axis(a, result.rank(), 2));
    let axis = axis.map_err(said)?;
    if (0..call.operands.len()).any(|k| call.dims(k)[axis].known().is_none()) {
        return Ok(vec![concat_open(kernel, call, axis)]);
    }
    let extent = |k: usize| call.dims(k)[axis].known().unwrap_or(0);
    let pieces = call.operands.iter().enumerate().map(|(k, &x)| (x, extent(k)));
    let pieces: Vec<(Value<'c>, u64)> = pieces.filter(|(_, extent)| *extent > 0).collect();
    let joined = |ty: &TensorType, pieces: &[_]| joined(kernel, call.op.name, ty, axis, pieces);
    if pieces.len() <= MOST_PIECES {
        return Ok(vec![joined(result, &pieces)]);
    }
    let group = |pieces: &[(Value<'c>, u64)]| {
        let extent: u64 = pieces.iter().map(|(_, extent)| extent).sum();
        let mut ty = result.clone();
        ty.dims[axis] = extent.into();
        (joined(&ty, pieces), extent)
    };
    let groups: Vec<_> = pieces.chunks(pieces.len().isqrt()).map(group).collect();
    Ok(vec![joined(result, &groups)])
}

/// More pieces than this are joined in groups first, as many groups as each has pieces, so that finding the piece of an element takes twice
/// the root of their number in comparisons:
///
///     y[i] = x0[i] if i < 1, x1[i - 1] if 1 <= i < 2, ... x99[i - 99]       100 comparisons
///     y[i] = g0[i] if i < 10, g1[i - 10] if 10 <= i < 20, ...               10, and 10 in the group
const MOST_PIECES: usize = 16;

/// The pieces one after another along an axis, each with its extent there.
fn joined<'c>(
    kernel: &Kernel<'c>,
    name: &str,
    result: &TensorType,
    axis: usize,
    pieces: &[(Value<'c>, u64)],
) -> Value<'c> {
    kernel.compute(name, result, |s, axes| {
        let i = axes[axis];
        if let [(x, _)] = pieces[..] {
            return s.load(x, axes);
        }
        let all: u64 = pieces.iter().map(|(_, extent)| extent).sum();
        let mut begin = 0;
        // Where loops are cut at the ends of pieces, one of the conditions holds and the others do not.
        let nothing = s.int(0, result.dtype);
        pieces.iter().fold(nothing, |otherwise, &(x, extent)| {
            let mut places = axes.to_vec();
            places[axis] = s.index_affine(i, 1, -(begin as i64));
            let mut inside = Vec::new();
            if begin > 0 {
                inside.push(s.index_compare(Compare::GreaterEqual, i, s.index(begin as i64)));
            }
            begin += extent;
            if begin < all {
                inside.push(s.index_compare(Compare::Less, i, s.index(begin as i64)));
            }
            let element = match inside.into_iter().reduce(|a, b| s.and(a, b)) {
                Some(inside) => s.load_if(inside, x, &places, otherwise),
                None => s.load(x, &places),
            };
            s.cast(element, result.dtype)
        })
    })
}

/// As [`concat`], where it is known at run time only where a part ends: the last part that begins before an element has it.
fn concat_open<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, axis: usize) -> Value<'c> {
    let result = &call.results[0];
    kernel.compute(call.op.name, result, |s, axes| {
        let i = axes[axis];
        let (mut begin, mut joined) = (s.index(0), s.int(0, result.dtype));
        for (k, &x) in call.operands.iter().enumerate() {
            let end = s.index_add(begin, s.extent(&call.dims(k)[axis]));
            let mut places = axes.to_vec();
            places[axis] = s.index_sub(i, begin);
            let inside = s.and(
                s.index_compare(Compare::GreaterEqual, i, begin),
                s.index_compare(Compare::Less, i, end),
            );
            joined = s.cast(s.load_if(inside, x, &places, joined), result.dtype);
            begin = end;
        }
        joined
    })
}

fn split<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = int_attr(&call.facts(), "axis", 1).and_then(|a| checked_axis(a, call.types[0].rank(), 1));
    let axis = axis.map_err(said)?;
    let (mut begin, mut pieces) = (0, Vec::new());
    for piece in &call.results {
        pieces.push(kernel.compute(call.op.name, piece, |s, axes| {
            let mut places = axes.to_vec();
            places[axis] = s.index_affine(places[axis], 1, begin);
            s.load(call.operands[0], &places)
        }));
        begin += piece.dims[axis].known().unwrap_or(0) as i64;
    }
    Ok(pieces)
}

fn slice<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let slices = slices(&call.facts()).map_err(said)?;
    let (from, to) = (call.dims(0), &call.results[0].dims);
    moved(kernel, call, |s, axes| {
        let mut places = axes.to_vec();
        for slice in slices {
            let Some(extent) = from[slice.axis].known() else {
                let begin = first_of(s, slice.begin, s.extent(&from[slice.axis]));
                let along = s.index_affine(axes[slice.axis], slice.stride, 0);
                places[slice.axis] = s.index_add(begin, along);
                continue;
            };
            let (begin, _) = slice.of(extent);
            places[slice.axis] = match to[slice.axis].known().unwrap_or(0) {
                // A stride may be too long for the axis where one element is kept.
                0 | 1 => s.index(begin as i64),
                _ => s.index_affine(axes[slice.axis], slice.stride, begin as i64),
            };
        }
        places
    })
}

/// The place that a slice of a positive stride begins with, of an axis whose extent is known at run time only.
fn first_of<'c>(s: &Scalars<'c>, begin: i64, extent: Value<'c>) -> Value<'c> {
    match begin {
        0 => s.index(0),
        1.. => s.index_min(s.index(begin), extent),
        _ => s.index_max(s.index(0), s.index_affine(extent, 1, begin)),
    }
}

fn tile<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (from, to) = (call.dims(0), &call.results[0].dims);
    moved(kernel, call, |s, axes| {
        let place = |a: usize| match from[a].known() {
            Some(0) => s.index(0),
            Some(n) if to[a] != Dim::Static(n) => s.index_mod(axes[a], n as i64),
            None if to[a] != from[a] => s.index_remainder(axes[a], s.extent(&from[a])),
            _ => axes[a],
        };
        (0..from.len()).map(place).collect()
    })
}

fn reverse<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let dims = call.dims(0);
    let reversed = axes_or_all(&call.facts(), dims.len(), 1).map_err(said)?;
    moved(kernel, call, |s, axes| {
        let mut places = axes.to_vec();
        for a in reversed.into_iter().filter(|&a| dims[a].known().is_none_or(|n| n > 1)) {
            places[a] = Size::of(s, &dims[a..=a]).mirrored(s, axes[a]);
        }
        places
    })
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn reshapes_split_into_the_shortest_runs() {
        assert_eq!(groups(&[2, 3, 4], &[6, 2, 2]), [(vec![0, 1], vec![0]), (vec![2], vec![1, 2])]);
        assert_eq!(groups(&[1, 5, 1, 7], &[5, 7]), [(vec![1], vec![0]), (vec![3], vec![1])]);
        assert_eq!(groups(&[4, 3], &[3, 4]), [(vec![0, 1], vec![0, 1])]);
        assert_eq!(groups(&[1, 1], &[]), []);
        assert_eq!(groups(&[0, 4], &[2, 0]), []);
    }
}
