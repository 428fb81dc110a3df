//! Operators of TVM's `dyn` family: shapes and extents are operands. Here they are constants, so that types are known.
//!
//!     dyn.reshape(%x, meta[relay.Constant][0])

use super::shape::new_shape;
use super::{Built, Call, images};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{indexing, reduction as red, shape};
use fusion_operators::{Attrs, DType};

const fn row(
    name: &'static str,
    operands: usize,
    attributes: &'static [&'static str],
    build: super::Build,
) -> Built {
    Built { name, operands: (operands, operands), attributes, ignored: &[], build }
}

const RESIZE: &[&str] = &[
    "layout",
    "method",
    "coordinate_transformation_mode",
    "rounding_method",
    "cubic_alpha",
    "cubic_exclude",
    "out_dtype",
];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "dyn.reshape", operands: (2, 2), attributes: &[], ignored: &["newshape", "allowzero"], build: reshape },
    row("dyn.broadcast_to", 2, &[], |call| { let x = call.operand(0); filled(call, x, 1) }),
    row("dyn.full", 2, &["dtype"], full),
    row("dyn.zeros", 1, &["dtype"], |call| constant(call, 0.0)),
    row("dyn.ones", 1, &["dtype"], |call| constant(call, 1.0)),
    row("dyn.tile", 2, &[], tile),
    row("dyn.expand_dims", 2, &["num_newaxis"], expand_dims),
    row("dyn.squeeze", 2, &[], squeeze),
    row("dyn.one_hot", 4, &["axis", "dtype"], one_hot),
    row("dyn.topk", 2, &["axis", "ret_type", "is_ascend", "dtype"], topk),
    row("dyn.strided_slice", 4, &["slice_mode"], strided_slice),
    row("dyn.nn.pad", 3, &["pad_mode"], pad),
    Built { name: "dyn.image.resize2d", operands: (3, 3), attributes: RESIZE, ignored: &["roi", "extrapolation_value"], build: resize },
    row("dyn.nn.upsampling", 3, &["layout", "method", "align_corners"], |call| upsampling(call, 2)),
    row("dyn.nn.upsampling3d", 4, &["layout", "method", "coordinate_transformation_mode"], |call| upsampling(call, 3)),
    row("dyn.sparse_to_dense", 4, &[], |call| {
        let shape = call.known_ints(3)?;
        super::sparse::to_dense(call, &shape)
    }),
];

fn reshape<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, given) = (call.operand(0), call.known_ints(1)?);
    let dims = call.known(x, "the shape")?.dims;
    let shape = if given.iter().any(|&n| n == 0 || n < -1) { new_shape(call, &given, &dims)? } else { given };
    call.reshaped(x, &shape).map(Made::Value)
}

/// A value in a shape that an operand says.
fn filled<'c>(call: &mut Call<'_, 'c, '_>, value: Value<'c>, shape: usize) -> Outcome<Made<'c>> {
    let shape = call.known_ints(shape)?;
    if shape.is_empty() {
        return Ok(Made::Value(value));
    }
    call.broadcast(value, &shape).map(Made::Value)
}

fn full<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut value = call.operand(0);
    if let Some(dtype) = call.maybe_element("dtype")? {
        value = call.cast(value, dtype)?;
    }
    filled(call, value, 1)
}

fn constant<'c>(call: &mut Call<'_, 'c, '_>, number: f64) -> Outcome<Made<'c>> {
    let dtype = call.maybe_element("dtype")?.unwrap_or(DType::F32);
    let value = call.scalar(dtype, number)?;
    filled(call, value, 0)
}

fn tile<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (mut x, mut reps) = (call.operand(0), call.known_ints(1)?);
    let rank = call.rank(x)?;
    let more: Vec<i64> = (0..reps.len().saturating_sub(rank) as i64).collect();
    x = call.expanded(x, &more)?;
    while reps.len() < rank {
        reps.insert(0, 1);
    }
    call.row(&shape::TILE, &[x], Attrs::new().with("reps", reps)).map(Made::Value)
}

fn expand_dims<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axis, count) = (call.operand(0), call.known_ints(1)?, call.int("num_newaxis", 1)?);
    let [axis] = axis[..] else { return call.fault("takes one number as its axis") };
    if !(0..=64).contains(&count) || !(-64..=64).contains(&axis) {
        return call.fault("axis or num_newaxis is out of range");
    }
    let first = if axis >= 0 { axis } else { axis + 1 - count };
    call.expanded(x, &(first..first + count).collect::<Vec<_>>()).map(Made::Value)
}

fn squeeze<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axes) = (call.operand(0), call.known_ints(1)?);
    call.row(&shape::SQUEEZE, &[x], Attrs::new().with("axes", axes)).map(Made::Value)
}

/// Indices, the value on, the value off, the depth.
fn one_hot<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut operands = call.operands();
    operands.truncate(3);
    if let Some(dtype) = call.maybe_element("dtype")? {
        operands[1] = call.cast(operands[1], dtype)?;
        operands[2] = call.cast(operands[2], dtype)?;
    }
    let [depth] = call.known_ints(3)?[..] else { return call.fault("takes one number as its depth") };
    let attrs = Attrs::new().with("depth", depth).with("axis", call.int("axis", -1)?);
    call.row(&indexing::ONE_HOT, &operands, attrs).map(Made::Value)
}

fn topk<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axis) = (call.operand(0), call.int("axis", -1)?);
    let [k] = call.known_ints(1)?[..] else { return call.fault("takes one number as k") };
    let mut attrs = Attrs::new().with("k", k).with("axis", axis);
    if call.flag("is_ascend", false)? {
        attrs.set("smallest", true);
    }
    let results = call.rows(&red::TOPK, &[x], &attrs, 2)?;
    super::reduction::chosen(call, &results)
}

fn strided_slice<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    call.require("slice_mode", "end", &["end", "size"])?;
    let x = call.operand(0);
    let (begin, mut end, mut strides) = (call.known_ints(1)?, call.known_ints(2)?, call.known_ints(3)?);
    if call.text("slice_mode", "end")? == "size" {
        for (end, begin) in end.iter_mut().zip(&begin) {
            *end = if *end < 0 { i64::MAX } else { begin.saturating_add(*end) };
        }
        strides = vec![1; begin.len()];
    }
    if strides.len() == 1 {
        strides = vec![strides[0]; begin.len()];
    }
    let attrs = Attrs::new().with("begin", begin).with("end", end).with("strides", strides);
    call.row(&shape::SLICE, &[x], attrs).map(Made::Value)
}

/// The data, two numbers an axis, and the value.
fn pad<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, widths, value) = (call.operand(0), call.known_ints(1)?, call.constant(2)?);
    if value.len() != 1 || widths.len() % 2 != 0 {
        return call.fault("takes a scalar, and two numbers for each axis");
    }
    let side = |which: usize| widths.iter().copied().skip(which).step_by(2);
    let padding: Vec<i64> = side(0).chain(side(1)).collect();
    let mode = call.text("pad_mode", "constant")?.to_owned();
    call.require("pad_mode", "constant", &["constant", "edge", "reflect"])?;
    let attrs = Attrs::new().with("padding", padding);
    let attrs =
        if mode == "constant" { attrs.with("value", value.f64_at(0)) } else { attrs.with("mode", mode) };
    call.row(&shape::PAD, &[x], attrs).map(Made::Value)
}

/// The data, its new extents, and a region that says nothing here.
fn resize<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, size) = (call.operand(0), call.known_ints(1)?);
    let axes = images::places(call, "layout", "NCHW", ['H', 'W'])?;
    let y = images::resized_to(call, x, &axes, &size)?;
    match call.maybe_element("out_dtype")? {
        Some(dtype) => call.cast(y, dtype).map(Made::Value),
        None => Ok(Made::Value(y)),
    }
}

fn upsampling<'c>(call: &mut Call<'_, 'c, '_>, axes: usize) -> Outcome<Made<'c>> {
    let mut scales = Vec::with_capacity(axes);
    for i in 0..axes {
        let scale = call.constant(i + 1)?;
        if scale.len() != 1 {
            return call.fault("takes a number for each axis");
        }
        scales.push(scale.f64_at(0));
    }
    images::upsampled(call, &scales)
}
