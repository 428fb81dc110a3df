//! Pooling.

use super::contraction::order::{Usual, ordered};
use super::contraction::{padding, per_axis};
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::Operator;
use fusion_operators::ops::pooling as pool;

const MAX: &[&str] = &["pool_size", "strides", "dilation", "padding", "layout", "out_layout", "ceil_mode"];
pub const AVG: &[&str] = &[
    "pool_size",
    "strides",
    "dilation",
    "padding",
    "layout",
    "out_layout",
    "ceil_mode",
    "count_include_pad",
];
const GLOBAL: &[&str] = &["layout", "out_layout"];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.max_pool1d", 1, MAX, |call| pooling(call, &pool::MAX_POOL1D, 1, "NCW")),
    built("nn.max_pool2d", 1, MAX, |call| pooling(call, &pool::MAX_POOL2D, 2, "NCHW")),
    built("nn.max_pool3d", 1, MAX, |call| pooling(call, &pool::MAX_POOL3D, 3, "NCDHW")),
    built("nn.avg_pool1d", 1, AVG, |call| pooling(call, &pool::AVG_POOL1D, 1, "NCW")),
    built("nn.avg_pool2d", 1, AVG, |call| pooling(call, &pool::AVG_POOL2D, 2, "NCHW")),
    built("nn.avg_pool3d", 1, AVG, |call| pooling(call, &pool::AVG_POOL3D, 3, "NCDHW")),
    built("nn.global_max_pool2d", 1, GLOBAL, |call| global(call, &pool::GLOBAL_MAX_POOL)),
    built("nn.global_avg_pool2d", 1, GLOBAL, |call| global(call, &pool::GLOBAL_AVG_POOL)),
];

fn pooling<'c>(
    call: &mut Call<'_, 'c, '_>,
    row: &'static Operator,
    axes: usize,
    layout: &'static str,
) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    pooled(call, x, row, axes, layout).map(Made::Value)
}

/// A pool of a value by the attributes of the call.
pub fn pooled<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    row: &'static Operator,
    axes: usize,
    layout: &'static str,
) -> Outcome<Value<'c>> {
    let (row, mut attrs) = ordered(call, row, &Usual { name: "layout", data: layout, weights: None })?;
    let size = match per_axis(call, "pool_size", axes)? {
        Some(size) => size,
        None => return call.fault("the attribute pool_size is missing"),
    };
    attrs.set("kernel", size);
    for name in ["strides", "dilation"] {
        if let Some(numbers) = per_axis(call, name, axes)?.filter(|numbers| numbers.iter().any(|&n| n != 1)) {
            attrs.set(name, numbers);
        }
    }
    let padding = padding(call, axes)?;
    if padding.iter().any(|&n| n != 0) {
        attrs.set("padding", padding);
    }
    for name in ["ceil_mode", "count_include_pad"] {
        if call.flag(name, false)? {
            attrs.set(name, true);
        }
    }
    call.row(row, &[x], attrs)
}

fn global<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    call.require("layout", "NCHW", &["NCHW"])?;
    call.require("out_layout", "", &["NCHW"])?;
    let x = call.operand(0);
    call.plain(row, &[x]).map(Made::Value)
}
