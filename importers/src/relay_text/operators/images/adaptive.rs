//! Pools whose result has a given size: window i of n over an extent e reaches from floor(i e / n) to ceil((i + 1) e / n).
//!
//! Windows are boxes, so that the axes can be pooled one after the other: each is a gather of the elements of its windows,
//! the last repeated where a window is shorter, and the greatest of them or their weighted sum.

use super::places;
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Build, Built, Call};
use fusion_operators::DType;
use fusion_operators::ops::reduction;

const fn pool(name: &'static str, build: Build) -> Built {
    Built { name, operands: (1, 1), attributes: &["output_size", "layout"], ignored: &["out_layout"], build }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    pool("nn.adaptive_avg_pool1d", |call| { let axes = places(call, "layout", "NCW", ['W'])?; adaptive(call, &axes, false) }),
    pool("nn.adaptive_max_pool1d", |call| { let axes = places(call, "layout", "NCW", ['W'])?; adaptive(call, &axes, true) }),
    pool("nn.adaptive_avg_pool2d", |call| { let axes = places(call, "layout", "NCHW", ['H', 'W'])?; adaptive(call, &axes, false) }),
    pool("contrib.adaptive_avg_pool2d", |call| { let axes = places(call, "layout", "NCHW", ['H', 'W'])?; adaptive(call, &axes, false) }),
    pool("nn.adaptive_max_pool2d", |call| { let axes = places(call, "layout", "NCHW", ['H', 'W'])?; adaptive(call, &axes, true) }),
    pool("contrib.adaptive_max_pool2d", |call| { let axes = places(call, "layout", "NCHW", ['H', 'W'])?; adaptive(call, &axes, true) }),
    pool("nn.adaptive_avg_pool3d", |call| { let axes = places(call, "layout", "NCDHW", ['D', 'H', 'W'])?; adaptive(call, &axes, false) }),
    pool("nn.adaptive_max_pool3d", |call| { let axes = places(call, "layout", "NCDHW", ['D', 'H', 'W'])?; adaptive(call, &axes, true) }),
];

fn adaptive<'c>(call: &mut Call<'_, 'c, '_>, axes: &[usize], greatest: bool) -> Outcome<Made<'c>> {
    let mut x = call.operand(0);
    let (shape, dtype) = (fixed(call, x)?, call.dtype(x)?);
    if axes.iter().any(|&axis| shape.get(axis).is_none_or(|&n| n < 1)) {
        return call.fault("takes an image with all axes of its layout, which is not empty");
    }
    let size = match call.maybe_ints("output_size")?.unwrap_or_default() {
        none if none.is_empty() => axes.iter().map(|&axis| shape[axis]).collect(),
        one if one.len() == 1 => vec![one[0]; axes.len()],
        size => size,
    };
    if size.len() != axes.len() || size.iter().any(|&n| n < 1) {
        return call.fault(format!("takes {} extents above 0 in output_size, found {size:?}", axes.len()));
    }
    for (&axis, &to) in axes.iter().zip(&size) {
        let from = shape[axis];
        call.countable(&[to, from])?;
        let window = |i: i64| (i * from / to, ((i + 1) * from + to - 1) / to);
        let most = (0..to).map(window).map(|(begin, end)| end - begin).max().unwrap_or(1);
        call.countable(&[to, most])?;
        let (mut places, mut weights) = (Vec::new(), Vec::new());
        for (begin, end) in (0..to).map(window) {
            for j in 0..most {
                places.push((begin + j).min(end - 1));
                weights.push(if begin + j < end { 1.0 / (end - begin) as f64 } else { 0.0 });
            }
        }
        let places = call.ints_in(DType::I64, &[to, most], &places)?;
        x = call.gathered(x, places, axis as i64)?;
        let along = [axis as i64 + 1];
        if greatest {
            x = call.reduced(&reduction::REDUCE_MAX, x, &along, false)?;
            continue;
        }
        let mut wide = vec![to, most];
        wide.extend(vec![1; shape.len() - axis - 1]);
        let weights = call.floats_in(dtype, &wide, &weights)?;
        x = call.mul(x, weights)?;
        x = call.summed(x, &along)?;
    }
    Ok(Made::Value(x))
}
