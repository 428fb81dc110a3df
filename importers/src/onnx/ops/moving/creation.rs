//! Tensors from attributes, shapes and numbers.

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Dim, Tensor};

use crate::onnx::build::Converted;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::moving::shape::extents_of;
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("Constant", constant),
    row("ConstantOfShape", constant_of_shape),
    row("EyeLike", eye_like),
    row("Range", range),
];

fn constant(im: &mut Importer, node: &Node) -> Converted {
    let directory = im.directory();
    if let Some(parts) = node.complex_tensor("value", directory)? {
        return Ok(vec![im.complex_constant(parts)]);
    }
    let tensor = if let Some(tensor) = node.held_tensor("value", directory)? {
        let value = im.constant(tensor);
        return Ok(vec![im.mark(value, node.narrow_of("value")?)]);
    } else if let Some(v) = node.opt_float("value_float")? {
        Tensor::from_f64s(DType::F32, &[], &[v])?
    } else if let Some(list) = node.floats("value_floats")? {
        Tensor::from_f64s(DType::F32, &[list.len()], &list)?
    } else if let Some(v) = node.opt_int("value_int")? {
        Tensor::from_slice(&[], &[v])?
    } else if let Some(list) = node.ints("value_ints")? {
        Tensor::from_slice(&[list.len()], list)?
    } else if let Some(text) = node.opt_string("value_string")? {
        Tensor::from_strings(&[], &[text])?
    } else if let Some(list) = node.strings("value_strings")? {
        Tensor::from_strings(&[list.len()], &list)?
    } else if let Some(tensor) = node.sparse_tensor("sparse_value", directory)? {
        tensor
    } else {
        return Err(Fault::MissingAttribute { name: "value".into() });
    };
    Ok(vec![im.constant(tensor)])
}

fn constant_of_shape(im: &mut Importer, node: &Node) -> Converted {
    let extents = match extents_of(im, node, 0) {
        Ok(extents) => Some(extents),
        Err(fault) if fault.needs_more() => None,
        Err(fault) => return Err(fault),
    };
    let shape: Option<Vec<Dim>> = extents.map(|all| all.into_iter().map(Extent::dim).collect());
    let value = match node.tensor("value", im.directory())? {
        Some(t) if t.len() == 1 => t.reshaped(&[])?,
        Some(t) => {
            return Err(Fault::value(format!("attribute value must have one element, found {}", t.len())));
        }
        None => Tensor::from_f64s(DType::F32, &[], &[0.0])?,
    };
    let value = im.constant(value);
    match shape.filter(|shape| !shape.contains(&Dim::Any)) {
        Some(shape) => Ok(vec![im.broadcast_dims(value, &shape)?]),
        None => {
            let wanted = node.input(0)?;
            let rank = im.extent(wanted, 0, "the shape")?;
            let falses = im.falses(wanted, usize::try_from(rank).unwrap_or(0))?;
            Ok(vec![im.select(falses, value, value)?])
        }
    }
}

/// Ones on the k-th diagonal of a matrix of the operand's shape.
fn eye_like(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let dtype = match node.opt_dtype("dtype")? {
        Some(dtype) => dtype,
        None => im.dtype(x)?,
    };
    let [rows, columns] = <[i64; 2]>::try_from(im.shape(x, "the operand")?)
        .map_err(|_| Fault::value("the operand must be a matrix"))?;
    let k = node.int("k", 0)?.clamp(-rows - 1, columns + 1);
    let i = im.arange(DType::I64, rows, 0.0, 1.0)?;
    let i = im.expand_dims(i, &[1])?;
    let j = im.arange(DType::I64, columns, -(k as f64), 1.0)?;
    let diagonal = im.equal(i, j)?;
    Ok(vec![im.cast(diagonal, dtype)?])
}

/// start, start + delta, ... below (or, when delta is negative, above) limit.
fn range(im: &mut Importer, node: &Node) -> Converted {
    let dtype = im.dtype(node.input(0)?)?;
    if let Some(range) = dynamic_range(im, node, dtype)? {
        return Ok(vec![range]);
    }
    let mut numbers = [0.0; 3];
    for (i, number) in numbers.iter_mut().enumerate() {
        let list = match im.floats_of(node, i) {
            Err(fault) if fault.needs_more() => return range_by_values(im, node),
            list => list?,
        };
        *number = *list.first().ok_or_else(|| Fault::value(format!("input {i} must hold one number")))?;
    }
    let [start, limit, delta] = numbers;
    let count = ((limit - start) / delta).ceil().max(0.0);
    if delta == 0.0 || count.is_nan() || count >= 1e12 {
        return Err(Fault::value(format!("no range goes from {start} to {limit} in steps of {delta}")));
    }
    Ok(vec![im.arange(dtype, count as i64, start, delta)?])
}

/// A range whose limits are computed: as many numbers as there are before the limit.
fn range_by_values(im: &mut Importer, node: &Node) -> Converted {
    let [start, limit, delta] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let dtype = im.dtype(start)?;
    let [start, limit, delta] = [start, limit, delta].map(|v| im.reshape(v, &[]));
    let (start, limit, delta) = (start?, limit?, delta?);
    let (from, to, step) =
        (im.cast(start, DType::F64)?, im.cast(limit, DType::F64)?, im.cast(delta, DType::F64)?);
    let span = im.sub(to, from)?;
    let steps = im.div(span, step)?;
    let steps = im.un(&ew::CEIL, steps)?;
    let steps = im.max_f(steps, 0.0)?;
    let count = im.cast(steps, DType::I64)?;
    let places = im.counting(count)?;
    let places = im.cast(places, dtype)?;
    let far = im.mul(places, delta)?;
    Ok(vec![im.add(far, start)?])
}

/// A range of whole numbers whose limits follow from extents; none where they are known.
fn dynamic_range(im: &mut Importer, node: &Node, dtype: DType) -> Result<Option<Value>, Fault> {
    let mut limits = Vec::new();
    for i in 0..3 {
        match im.extents(node.input(i)?).as_deref() {
            Some([limit]) => limits.push(limit.clone()),
            _ => return Ok(None),
        }
    }
    let (Extent::Known(start), Extent::Dim(limit), Extent::Known(delta)) =
        (&limits[0], &limits[1], &limits[2])
    else {
        return Ok(None);
    };
    let (Ok(begin), Ok(step @ 1..)) = (u64::try_from(*start), u64::try_from(*delta)) else { return Ok(None) };
    let size = limit.minus(&Dim::Static(begin)).over_up(step);
    if size == Dim::Any {
        return Ok(None);
    }
    im.arange_dim(dtype, &size, *start as f64, *delta as f64).map(Some)
}
