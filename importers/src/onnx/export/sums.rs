//! Products, convolutions, windows, normalizations and reductions.

use super::{Exporter, Row};
use fusion_operators::ops::reduction::{axis, reduced_axes};
use fusion_operators::ops::{
    attention, columns, contraction as c, convolution as k, normalization as n, pooling as p, reduction as r,
};
use fusion_operators::{Attr, Attrs, Call, DType, TensorType};

pub const ROWS: &[Row] = &[
    (&c::MATMUL, matmul),
    (&c::BATCH_MATMUL, matmul),
    (&c::DENSE, dense),
    (&attention::ATTENTION, |x, call, operands, result| x.in_f32(call, operands, result, attention)),
    (&k::CONV1D, convolution),
    (&k::CONV2D, convolution),
    (&k::CONV3D, convolution),
    (&k::CONV1D_TRANSPOSE, transposed),
    (&k::CONV2D_TRANSPOSE, transposed),
    (&k::CONV3D_TRANSPOSE, transposed),
    (&columns::COL2IM, col2im),
    (&p::MAX_POOL1D, |x, call, operands, _| pool(x, call, operands, "MaxPool")),
    (&p::MAX_POOL2D, |x, call, operands, _| pool(x, call, operands, "MaxPool")),
    (&p::MAX_POOL3D, |x, call, operands, _| pool(x, call, operands, "MaxPool")),
    (&p::AVG_POOL1D, |x, call, operands, _| pool(x, call, operands, "AveragePool")),
    (&p::AVG_POOL2D, |x, call, operands, _| pool(x, call, operands, "AveragePool")),
    (&p::AVG_POOL3D, |x, call, operands, _| pool(x, call, operands, "AveragePool")),
    (&p::GLOBAL_MAX_POOL, |x, call, operands, _| whole(x, call, operands, "GlobalMaxPool")),
    (&p::GLOBAL_AVG_POOL, |x, call, operands, _| whole(x, call, operands, "GlobalAveragePool")),
    (&n::BATCH_NORM, |x, call, operands, _| normalized(x, call, operands, "BatchNormalization")),
    (&n::INSTANCE_NORM, |x, call, operands, _| normalized(x, call, operands, "InstanceNormalization")),
    (&n::GROUP_NORM, |x, call, operands, _| normalized(x, call, operands, "GroupNormalization")),
    (&n::LAYER_NORM, layer_norm),
    (&n::LRN, lrn),
    (&n::SOFTMAX, |x, call, operands, _| along(x, call, operands, "Softmax")),
    (&n::LOG_SOFTMAX, |x, call, operands, _| along(x, call, operands, "LogSoftmax")),
    (&r::REDUCE_SUM, |x, call, operands, _| reduced(x, call, operands, "ReduceSum")),
    (&r::REDUCE_MEAN, |x, call, operands, _| reduced(x, call, operands, "ReduceMean")),
    (&r::REDUCE_PROD, |x, call, operands, _| reduced(x, call, operands, "ReduceProd")),
    (&r::REDUCE_MAX, |x, call, operands, _| reduced(x, call, operands, "ReduceMax")),
    (&r::REDUCE_MIN, |x, call, operands, _| reduced(x, call, operands, "ReduceMin")),
    (&r::REDUCE_ALL, |x, call, operands, _| reduced(x, call, operands, "ReduceMin")),
    (&r::REDUCE_ANY, |x, call, operands, _| reduced(x, call, operands, "ReduceMax")),
    (&r::ARGMAX, |x, call, operands, _| arg(x, call, operands, "ArgMax")),
    (&r::ARGMIN, |x, call, operands, _| arg(x, call, operands, "ArgMin")),
    (&r::CUMSUM, cumsum),
];

/// Attributes of relay that ONNX has under another name, those that are given.
fn renamed<'n>(attrs: &Attrs, names: &[(&str, &'n str)]) -> Vec<(&'n str, Attr)> {
    names.iter().filter_map(|(own, name)| Some((*name, attrs.get(own)?.clone()))).collect()
}

/// The value with its last two axes exchanged.
fn turned(x: &mut Exporter, value: &str, ty: &TensorType) -> Option<String> {
    let mut axes: Vec<i64> = (0..ty.rank() as i64).collect();
    let last = ty.rank().checked_sub(2)?;
    axes.swap(last, last + 1);
    Some(x.node("Transpose", &[value], &[("perm", axes.into())]))
}

fn matmul(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let mut sides = Vec::new();
    for (side, flag) in ["transpose_a", "transpose_b"].into_iter().enumerate() {
        let ty = &call.operands[side];
        let value = x.cast(&operands[side], ty.dtype, result.dtype);
        sides.push(if call.attrs.flag(flag) { turned(x, &value, ty)? } else { value });
    }
    Some(x.node("MatMul", &[&sides[0], &sides[1]], &[]))
}

fn dense(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let data = x.cast(&operands[0], call.operands[0].dtype, result.dtype);
    let weight = x.cast(&operands[1], call.operands[1].dtype, result.dtype);
    let weight = turned(x, &weight, &call.operands[1])?;
    Some(x.node("MatMul", &[&data, &weight], &[]))
}

fn attention(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let keys = turned(x, &operands[1], &call.operands[1])?;
    let scores = x.node("MatMul", &[&operands[0], &keys], &[]);
    let scale = x.number(result.dtype, call.attrs.float_or("scale", 1.0))?;
    let mut scores = x.node("Mul", &[&scores, &scale], &[]);
    if let Some(bias) = operands.get(3) {
        scores = x.node("Add", &[&scores, bias], &[]);
    }
    let weights = x.node("Softmax", &[&scores], &[("axis", Attr::Int(-1))]);
    Some(x.node("MatMul", &[&weights, &operands[2]], &[]))
}

/// ONNX convolves floats.
fn convolution(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let names = [("strides", "strides"), ("padding", "pads"), ("dilation", "dilations"), ("groups", "group")];
    let mut sides = Vec::new();
    for (ty, operand) in call.operands.iter().zip(operands) {
        sides.push(x.cast(operand, ty.dtype, result.dtype));
    }
    let attributes = renamed(call.attrs, &names);
    result.dtype.is_float().then(|| x.node("Conv", &[&sides[0], &sides[1]], &attributes))
}

fn transposed(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let names = [
        ("strides", "strides"),
        ("padding", "pads"),
        ("dilation", "dilations"),
        ("groups", "group"),
        ("output_padding", "output_padding"),
    ];
    let attributes = renamed(call.attrs, &names);
    result.dtype.is_float().then(|| x.node("ConvTranspose", &[&operands[0], &operands[1]], &attributes))
}

fn col2im(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    // ONNX has all positions on one axis, and no room behind the last.
    if call.attrs.ints("output_padding").is_some_and(|padding| padding.iter().any(|&n| n != 0)) {
        return None;
    }
    let data = super::extents(&call.operands[0])?;
    let flat = x.ints(&[*data.first()?, *data.get(1)?, data.iter().skip(2).product()])?;
    let flat = x.node("Reshape", &[&operands[0], &flat], &[]);
    let image = x.ints(&super::extents(result)?[2..])?;
    let kernel = x.ints(call.attrs.ints("kernel")?)?;
    let attributes =
        renamed(call.attrs, &[("strides", "strides"), ("padding", "pads"), ("dilation", "dilations")]);
    Some(x.node("Col2Im", &[&flat, &image, &kernel], &attributes))
}

/// ONNX has the greatest of floats and of 8 bits.
fn pool(x: &mut Exporter, call: &Call, operands: &[String], op: &str) -> Option<String> {
    let dtype = call.operands[0].dtype;
    let names = [
        ("kernel", "kernel_shape"),
        ("strides", "strides"),
        ("padding", "pads"),
        ("dilation", "dilations"),
        ("ceil_mode", "ceil_mode"),
    ];
    let fits = dtype.is_float() || matches!(dtype, DType::I8 | DType::U8);
    let mut attributes = renamed(call.attrs, &names);
    if call.attrs.flag("count_include_pad") && op == "AveragePool" {
        attributes.push(("count_include_pad", true.into()));
    }
    fits.then(|| x.node(op, &[&operands[0]], &attributes))
}

fn whole(x: &mut Exporter, call: &Call, operands: &[String], op: &str) -> Option<String> {
    call.operands[0].dtype.is_float().then(|| x.node(op, &[&operands[0]], &[]))
}

fn normalized(x: &mut Exporter, call: &Call, operands: &[String], op: &str) -> Option<String> {
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let epsilon = call.attrs.float_or("epsilon", 1e-5);
    let mut attributes = renamed(call.attrs, &[("num_groups", "num_groups")]);
    attributes.push(("epsilon", epsilon.into()));
    Some(x.node(op, &operands, &attributes))
}

/// ONNX has scale and shift of all axes that are normalized.
fn layer_norm(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let axis = call.attrs.int_or("axis", -1);
    let data = super::extents(&call.operands[0])?;
    let first = if axis < 0 { axis + data.len() as i64 } else { axis };
    let shape = x.ints(&data[usize::try_from(first).ok()?..])?;
    let scale = x.node("Expand", &[&operands[1], &shape], &[]);
    let shift = x.node("Expand", &[&operands[2], &shape], &[]);
    let epsilon = call.attrs.float_or("epsilon", 1e-5);
    let attributes = [("axis", Attr::Int(axis)), ("epsilon", epsilon.into())];
    Some(x.node("LayerNormalization", &[&operands[0], &scale, &shift], &attributes))
}

fn lrn(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let attributes =
        renamed(call.attrs, &[("size", "size"), ("alpha", "alpha"), ("beta", "beta"), ("bias", "bias")]);
    Some(x.node("LRN", &[&operands[0]], &attributes))
}

fn along(x: &mut Exporter, call: &Call, operands: &[String], op: &str) -> Option<String> {
    let axis = call.attrs.int_or("axis", -1);
    Some(x.node(op, &[&operands[0]], &[("axis", axis.into())]))
}

fn reduced(x: &mut Exporter, call: &Call, operands: &[String], op: &str) -> Option<String> {
    let axes: Vec<i64> = reduced_axes(call).ok()?.into_iter().map(|axis| axis as i64).collect();
    let axes = x.ints(&axes)?;
    // No axes are none, not all.
    let attributes =
        [("keepdims", Attr::Int(call.attrs.flag("keepdims").into())), ("noop_with_empty_axes", Attr::Int(1))];
    Some(x.node(op, &[&operands[0], &axes], &attributes))
}

fn arg(x: &mut Exporter, call: &Call, operands: &[String], op: &str) -> Option<String> {
    let flag = |name: &str| Attr::Int(call.attrs.flag(name).into());
    let axis = axis(call).ok()? as i64;
    let attributes = [
        ("axis", Attr::Int(axis)),
        ("keepdims", flag("keepdims")),
        ("select_last_index", flag("select_last")),
    ];
    Some(x.node(op, &[&operands[0]], &attributes))
}

fn cumsum(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let axis = x.number(DType::I64, axis(call).ok()? as f64)?;
    let flag = |name: &str| Attr::Int(call.attrs.flag(name).into());
    let attributes = [("exclusive", flag("exclusive")), ("reverse", flag("reverse"))];
    Some(x.node("CumSum", &[&operands[0], &axis], &attributes))
}
