//! Operators that move elements by their position or by indices, and those that make tensors of nothing.

use super::elementwise::{evaluated, saturated};
use super::{Exporter, Row, extents};
use fusion_operators::ops::shape::{permutation, slices};
use fusion_operators::ops::{creation, indexing as i, sequence_mask, shape as s};
use fusion_operators::{Attr, Attrs, Call, DType, Tensor, TensorType, relation};

pub const ROWS: &[Row] = &[
    (&s::RESHAPE, reshape),
    (&s::TRANSPOSE, transpose),
    (&s::SQUEEZE, reshape),
    (&s::EXPAND_DIMS, expand_dims),
    (&s::BROADCAST_TO, |x, _, operands, result| with_shape(x, "Expand", operands, result)),
    (&s::CONCAT, concat),
    (&s::SLICE, slice),
    (&s::PAD, pad),
    (&s::TILE, tile),
    (&s::RESIZE, resize),
    (&s::REVERSE, reverse),
    (&i::GATHER, |x, call, operands, _| indexed(x, call, operands, "Gather", &[("axis", "axis")])),
    (&i::GATHER_ELEMENTS, |x, call, operands, _| {
        indexed(x, call, operands, "GatherElements", &[("axis", "axis")])
    }),
    (&i::GATHER_ND, |x, call, operands, _| {
        let indices = x.cast(&operands[1], call.operands[1].dtype, DType::I64);
        let operands = [operands[0].clone(), indices];
        indexed(x, call, &operands, "GatherND", &[("batch_dims", "batch_dims")])
    }),
    (&i::SCATTER_ELEMENTS, |x, call, operands, _| {
        indexed(x, call, operands, "ScatterElements", &[("axis", "axis"), ("reduction", "reduction")])
    }),
    (&i::SCATTER_ND, |x, call, operands, _| {
        let indices = x.cast(&operands[1], call.operands[1].dtype, DType::I64);
        let operands = [operands[0].clone(), indices, operands[2].clone()];
        indexed(x, call, &operands, "ScatterND", &[("reduction", "reduction")])
    }),
    (&i::ONE_HOT, one_hot),
    (&creation::ARANGE, evaluated),
    (&creation::SHAPE_OF, |x, _, operands, _| Some(x.node("Shape", &[&operands[0]], &[]))),
    (&creation::DYNAMIC_IOTA, |x, _, operands, _| {
        let (none, one) = (x.number(DType::I64, 0.0)?, x.number(DType::I64, 1.0)?);
        Some(x.node("Range", &[&none, &operands[0], &one], &[]))
    }),
    (&sequence_mask::SEQUENCE_MASK, masked),
];

/// A node whose second operand is the shape of the result.
fn with_shape(x: &mut Exporter, op: &str, operands: &[String], result: &TensorType) -> Option<String> {
    let shape = x.ints(&extents(result)?)?;
    Some(x.node(op, &[&operands[0], &shape], &[]))
}

/// An extent of 0 is one, not that of the operand.
fn reshape(x: &mut Exporter, _: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let shape = x.ints(&extents(result)?)?;
    Some(x.node("Reshape", &[&operands[0], &shape], &[("allowzero", Attr::Int(1))]))
}

fn transpose(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let axes: Vec<i64> = permutation(call).ok()?.into_iter().map(|axis| axis as i64).collect();
    Some(x.node("Transpose", &[&operands[0]], &[("perm", axes.into())]))
}

fn expand_dims(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let axes = x.ints(call.attrs.ints("axes")?)?;
    Some(x.node("Unsqueeze", &[&operands[0], &axes], &[]))
}

fn concat(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    Some(x.node("Concat", &operands, &[("axis", call.attrs.get("axis")?.clone())]))
}

fn slice(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let slices = slices(call).ok()?;
    let mut list = |of: &dyn Fn(&s::Sliced) -> i64| x.ints(&slices.iter().map(of).collect::<Vec<_>>());
    let (begin, end) = (list(&|slice| slice.begin)?, list(&|slice| slice.end)?);
    let (axes, strides) = (list(&|slice| slice.axis as i64)?, list(&|slice| slice.stride)?);
    Some(x.node("Slice", &[&operands[0], &begin, &end, &axes, &strides], &[]))
}

fn reverse(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let axes = relation::normalize_axes(call.attrs.ints("axes")?, call.operands[0].rank(), 1).ok()?;
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    let (begin, end) = (x.ints(&vec![-1; axes.len()])?, x.ints(&vec![i64::MIN; axes.len()])?);
    let (strides, axes) = (x.ints(&vec![-1; axes.len()])?, x.ints(&axes)?);
    Some(x.node("Slice", &[&operands[0], &begin, &end, &axes, &strides], &[]))
}

fn pad(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let padding = x.ints(call.attrs.ints("padding")?)?;
    let value = x.number(call.operands[0].dtype, call.attrs.float_or("value", 0.0))?;
    let mode = call.attrs.str_or("mode", "constant");
    Some(x.node("Pad", &[&operands[0], &padding, &value], &[("mode", mode.into())]))
}

fn tile(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let reps = x.ints(call.attrs.ints("reps")?)?;
    Some(x.node("Tile", &[&operands[0], &reps], &[]))
}

/// ONNX takes scales or sizes, and has no scales that give other sizes than they are.
fn resize(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    if call.attrs.floats("scales").is_some() || result.rank() == 0 {
        return None;
    }
    let text = |name: &str, default: &str| Attr::Str(call.attrs.str_or(name, default).to_owned());
    let sizes = x.ints(&extents(result)?)?;
    let attributes = [
        ("mode", text("method", "nearest")),
        ("coordinate_transformation_mode", text("coordinates", "half_pixel")),
        ("nearest_mode", text("rounding", "round_prefer_floor")),
    ];
    Some(x.node("Resize", &[&operands[0], "", "", &sizes], &attributes))
}

fn indexed(
    x: &mut Exporter,
    call: &Call,
    operands: &[String],
    op: &str,
    names: &[(&str, &str)],
) -> Option<String> {
    let attributes: Vec<(&str, Attr)> =
        names.iter().filter_map(|(own, name)| Some((*name, call.attrs.get(own)?.clone()))).collect();
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    Some(x.node(op, &operands, &attributes))
}

/// ONNX Runtime has few of the element types, so that places are compared. An index below 0 counts from the back.
fn one_hot(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let indices = &call.operands[0];
    let axis = relation::normalize_axis(call.attrs.int_or("axis", -1), result.rank())?;
    let depth = call.attrs.int_or("depth", 0);
    let axes = x.ints(&[axis as i64])?;
    let given = x.cast(&operands[0], indices.dtype, DType::I64);
    let (none, all) = (x.number(DType::I64, 0.0)?, x.number(DType::I64, depth as f64)?);
    let below = x.node("Less", &[&given, &none], &[]);
    let back = x.node("Add", &[&given, &all], &[]);
    let places_given = x.node("Where", &[&below, &back, &given], &[]);
    let places_given = x.node("Unsqueeze", &[&places_given, &axes], &[]);
    let mut shape = vec![1; result.rank()];
    shape[axis] = usize::try_from(depth).ok()?;
    let places: Vec<i128> = (0..depth.into()).collect();
    let places = x.constant(&Tensor::from_ints(DType::I64, &shape, &places).ok()?);
    let on = x.node("Equal", &[&places_given, &places], &[]);
    Some(x.node("Where", &[&on, &operands[1], &operands[2]], &[]))
}

/// A place of the sequence is compared with its length.
fn masked(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let (data, lengths) = (&call.operands[0], &call.operands[1]);
    let (axis, rank) = (usize::try_from(call.attrs.int_or("axis", 0)).ok()?, data.rank());
    let behind = |axis: usize| -> Vec<i64> { (1..(rank - axis) as i64).collect() };
    let spread = |x: &mut Exporter, value: &str, axis: usize| {
        let axes = x.ints(&behind(axis))?;
        Some(x.node("Unsqueeze", &[value, &axes], &[]))
    };
    let size = *extents(data)?.get(axis)?;
    let attrs = Attrs::new().with("size", size).with("dtype", DType::I64);
    let places = Call { op: &creation::ARANGE, operands: &[], attrs: &attrs };
    let places = evaluated(x, &places, &[], data)?;
    let places = spread(x, &places, axis)?;
    let lengths = x.cast(&operands[1], lengths.dtype, DType::I64);
    let lengths = spread(x, &lengths, 1 - axis)?;
    let inside = x.node("Less", &[&places, &lengths], &[]);
    let value = call.attrs.float_or("mask_value", 0.0);
    let value = x.constant(&saturated(data.dtype, value)?);
    Some(x.node("Where", &[&inside, &operands[0], &value], &[]))
}
