//! Quantised numbers, bit for bit by ONNX's formulas (round is to the nearest integer, ties to even):
//!
//!     QuantizeLinear      q = saturate(round(x / scale) + zero)                              the quotient in the type of the scale
//!     DequantizeLinear    x = (q - zero) * scale
//!     QLinear*            q = saturate(round(sum * (a_scale * b_scale / q_scale)) + zero)    each operation rounds to f32
//!
//! Products of integers and their sums are in `integer_products.rs`.

use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::narrow::Rounding;
use crate::onnx::narrow_types::Narrow;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::arithmetic::integer_products::{Place, Quantized, convolve, matmul, placed};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("QuantizeLinear", quantize_linear),
    row("DequantizeLinear", dequantize_linear),
    row("DynamicQuantizeLinear", |im, node| {
        let (y, scale, zero) = by_own_range(im, node.input(0)?)?;
        Ok(vec![y, scale, zero])
    }),
    row("MatMulInteger", |im, node| {
        let a = Quantized { numbers: node.input(0)?, zero: node.opt(2) };
        let b = Quantized { numbers: node.input(1)?, zero: node.opt(3) };
        Ok(vec![matmul(im, a, b)?])
    }),
    row("ConvInteger", |im, node| {
        let x = Quantized { numbers: node.input(0)?, zero: node.opt(2) };
        let w = Quantized { numbers: node.input(1)?, zero: node.opt(3) };
        Ok(vec![convolve(im, node, x, w)?])
    }),
    row("QLinearMatMul", qlinear_matmul),
    row("QLinearConv", qlinear_conv),
];

/// Rounds, adds the zero point, saturates.
pub fn saturated(im: &mut Importer, x: Value, zero: Option<Value>, dtype: DType) -> Made {
    let mut q = im.un(&ew::ROUND, x)?;
    if let Some(zero) = zero {
        let zero = im.cast(zero, im.dtype(q)?)?;
        q = im.add(q, zero)?;
    }
    let bits = 8 * dtype.size() as i32;
    let (least, most) = match dtype.class() {
        fusion_operators::dtype::Class::Unsigned => (0.0, 2f64.powi(bits) - 1.0),
        _ => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
    };
    let q = im.clip(q, least, most)?;
    im.cast(q, dtype)
}

/// The numbers that integers of one scale and zero point stand for, in the type of the scale.
pub fn number_of(im: &mut Importer, x: Value, scale: Value, zero: Option<Value>) -> Made {
    let mut q = im.cast(x, DType::I32)?;
    if let Some(zero) = zero {
        let zero = im.reshape(zero, &[])?;
        let zero = im.cast(zero, DType::I32)?;
        q = im.sub(q, zero)?;
    }
    let scale = im.reshape(scale, &[])?;
    let q = im.cast(q, im.dtype(scale)?)?;
    im.mul(q, scale)
}

/// Integers that stand for numbers, by one scale and zero point.
pub fn quantized_as(
    im: &mut Importer,
    x: Value,
    (scale, zero): (Value, Option<Value>),
    dtype: DType,
) -> Made {
    let each = |im: &mut Importer, v: Value| match im.ty(v)?.elements() {
        Some(1) => im.reshape(v, &[]),
        _ => Ok(v),
    };
    let scale = each(im, scale)?;
    let zero = zero.map(|zero| each(im, zero)).transpose()?;
    let scaled = im.div(x, scale)?;
    saturated(im, scaled, zero, dtype)
}

/// A scale or zero point against x: one number, one along an axis, or one a block of the axis.
fn against(im: &mut Importer, node: &Node, v: Value, x: Value) -> Made {
    let (rank, own) = (im.rank(x)?, im.rank(v)?);
    let block = node.int("block_size", 0)?;
    if own == 0 {
        return Ok(v);
    }
    if own == 1 && block == 0 {
        if im.ty(v)?.elements() == Some(1) {
            return im.reshape(v, &[]);
        }
        let axis = axis_in(node.int("axis", 1)?, rank)?;
        return im.expand_dims(v, &(1..(rank - axis) as i64).collect::<Vec<_>>());
    }
    if block == 0 {
        return Ok(v);
    }
    let axis = axis_in(node.int("axis", 1)?, rank)?;
    let mut shape = im.shape(v, "the scale")?;
    let extent = im.extent(x, axis, "the operand")?;
    if own != rank || !(1..=1 << 32).contains(&block) {
        return Err(Fault::value(format!(
            "blocks of {block} need scales of the operand's rank, found {}",
            im.ty(v)?
        )));
    }
    let blocks = shape[axis];
    shape.insert(axis + 1, block);
    let v = im.expand_dims(v, &[axis as i64 + 1])?;
    let v = im.broadcast_to(v, &shape)?;
    shape.remove(axis + 1);
    shape[axis] = blocks * block;
    let v = im.reshape(v, &shape)?;
    if shape[axis] == extent { Ok(v) } else { im.slice(v, axis, 0, extent) }
}

fn quantize_linear(im: &mut Importer, node: &Node) -> Converted {
    let (x, scale) = (node.input(0)?, node.input(1)?);
    let zero = node.opt(2);
    let narrow = match node.opt_int("output_dtype")?.unwrap_or(0) {
        0 => zero.and_then(|zero| im.narrow_of(zero)),
        number => Narrow::of(number),
    };
    let dtype = match (node.opt_int("output_dtype")?.unwrap_or(0), zero) {
        (0, Some(zero)) => im.dtype(zero)?,
        (0, None) => DType::U8,
        _ if narrow.is_some() => DType::U8,
        _ => node.opt_dtype("output_dtype")?.unwrap_or(DType::U8),
    };
    let scale = against(im, node, scale, x)?;
    let zero = zero.map(|zero| against(im, node, zero, x)).transpose()?;
    let precision = match node.opt_int("precision")?.unwrap_or(0) {
        0 => im.dtype(scale)?,
        _ => node.opt_dtype("precision")?.unwrap_or(DType::F32),
    };
    if !precision.is_float() {
        return Err(Fault::value(format!(
            "x is divided by the scale in a type of floats, and this is {precision}; give a scale, or an attribute precision, that is one"
        )));
    }
    let (x, scale) = (im.cast(x, precision)?, im.cast(scale, precision)?);
    let scaled = im.div(x, scale)?;
    // Not all integers of the result are numbers of f16 or bf16.
    let scaled = im.wide(scaled)?;
    match narrow {
        Some(narrow) => Ok(vec![quantize_narrow(im, node, scaled, zero, narrow)?]),
        None => Ok(vec![saturated(im, scaled, zero, dtype)?]),
    }
}

/// Floats round as they are cast; integers before that, and saturate.
fn quantize_narrow(
    im: &mut Importer,
    node: &Node,
    scaled: Value,
    zero: Option<Value>,
    narrow: &'static Narrow,
) -> Made {
    let mut q = if narrow.is_int() { im.un(&ew::ROUND, scaled)? } else { scaled };
    if let Some(zero) = zero {
        let zero = im.numbers(zero, narrow)?;
        let zero = im.cast(zero, im.dtype(q)?)?;
        q = im.add(q, zero)?;
    }
    if narrow.is_int() {
        let (least, most) = narrow.range();
        q = im.clip(q, least, most)?;
    }
    im.narrowed(q, narrow, Rounding::read(node)?)
}

fn dequantize_linear(im: &mut Importer, node: &Node) -> Converted {
    let (x, scale) = (node.input(0)?, node.input(1)?);
    let dtype = match node.opt_int("output_dtype")?.unwrap_or(0) {
        0 => im.dtype(scale)?,
        _ => node.opt_dtype("output_dtype")?.unwrap_or(DType::F32),
    };
    let blocks = Blocks::of(im, node, x, scale)?;
    let each = |im: &mut Importer, v: Value| match &blocks {
        Some(blocks) => im.expand_dims(v, &[blocks.axis as i64 + 1]),
        None => against(im, node, v, x),
    };
    let scale = each(im, scale)?;
    let zero = node.opt(2).map(|zero| each(im, zero)).transpose()?;
    // Integers are subtracted as such, and so are floats of 8 bits.
    let float = im.narrow_of(x).filter(|narrow| !narrow.is_int());
    let number = |im: &mut Importer, v: Value| match float {
        Some(narrow) => im.numbers(v, narrow),
        None => im.cast(v, DType::I32),
    };
    let mut q = number(im, x)?;
    if let Some(blocks) = &blocks {
        q = im.reshape(q, &blocks.split)?;
    }
    if let Some(zero) = zero {
        let zero = number(im, zero)?;
        q = im.sub(q, zero)?;
    }
    let scale = im.wide(scale)?;
    let q = im.cast(q, im.dtype(scale)?)?;
    let mut y = im.mul(q, scale)?;
    if let Some(blocks) = &blocks {
        y = im.reshape(y, &blocks.whole)?;
    }
    Ok(vec![im.cast(y, dtype)?])
}

/// Blocks that an axis is a whole number of: as an axis of their own, so that scales stay as small as they are.
struct Blocks {
    axis: usize,
    /// The shape with that axis, and without.
    split: Vec<i64>,
    whole: Vec<i64>,
}

impl Blocks {
    fn of(im: &mut Importer, node: &Node, x: Value, scale: Value) -> Result<Option<Blocks>, Fault> {
        let block = node.int("block_size", 0)?;
        let (rank, known) = (im.rank(x)?, im.ty(x)?.shape().zip(im.ty(scale)?.shape()));
        let Some((whole, scales)) = known.filter(|_| block > 0 && im.rank(scale).is_ok_and(|n| n == rank))
        else {
            return Ok(None);
        };
        let axis = axis_in(node.int("axis", 1)?, rank)?;
        let whole: Vec<i64> = whole.into_iter().map(|n| n as i64).collect();
        if i64::try_from(scales[axis]).ok().and_then(|n| n.checked_mul(block)) != Some(whole[axis]) {
            return Ok(None);
        }
        let mut split = whole.clone();
        split.splice(axis..=axis, [whole[axis] / block, block]);
        Ok(Some(Blocks { axis, split, whole }))
    }
}

/// Numbers quantized to 8 bits, their scale and zero point, from the range of the operand, which is taken to contain 0.
pub fn by_own_range(im: &mut Importer, x: Value) -> Result<(Value, Value, Value), Fault> {
    let axes: Vec<usize> = (0..im.rank(x)?).collect();
    let most = im.reduce(&reduction::REDUCE_MAX, x, &axes, false)?;
    let most = im.max_f(most, 0.0)?;
    let least = im.reduce(&reduction::REDUCE_MIN, x, &axes, false)?;
    let zero = im.like(x, 0.0)?;
    let least = im.minimum(least, zero)?;
    let range = im.sub(most, least)?;
    let steps = im.like(x, 255.0)?;
    let scale = im.div(range, steps)?;
    // Of zeros alone every scale is right but 0, which nothing can be divided by.
    let (none, one) = (im.bin(&ew::EQUAL, most, least)?, im.like(x, 1.0)?);
    let scale = im.op(&ew::WHERE, &[none, one, scale], Attrs::new())?;
    let below = im.un(&ew::NEG, least)?;
    let place = im.div(below, scale)?;
    let zero = saturated(im, place, None, DType::U8)?;
    let scaled = im.div(x, scale)?;
    let y = saturated(im, scaled, Some(zero), DType::U8)?;
    Ok((y, scale, zero))
}

/// saturate(round(sum * (a_scale * b_scale / y_scale)) + zero point)
fn requantized(
    im: &mut Importer,
    sum: Value,
    (a_scale, b_scale): (Value, Value),
    (y_scale, zero): (Value, Value),
) -> Made {
    let y_scale = placed(im, y_scale, 0, Place::Columns)?;
    let [a_scale, b_scale, y_scale] = [a_scale, b_scale, y_scale].map(|scale| im.cast(scale, DType::F32));
    let product = im.mul(a_scale?, b_scale?)?;
    let factor = im.div(product, y_scale?)?;
    let sum = im.cast(sum, DType::F32)?;
    let scaled = im.mul(sum, factor)?;
    let dtype = im.dtype(zero)?;
    let zero = placed(im, zero, 0, Place::Columns)?;
    saturated(im, scaled, Some(zero), dtype)
}

fn qlinear_matmul(im: &mut Importer, node: &Node) -> Converted {
    let a_scale = placed(im, node.input(1)?, 2, Place::Rows)?;
    let b_scale = placed(im, node.input(4)?, 2, Place::Columns)?;
    let a = Quantized { numbers: node.input(0)?, zero: node.opt(2) };
    let b = Quantized { numbers: node.input(3)?, zero: node.opt(5) };
    let sum = matmul(im, a, b)?;
    let result = (node.input(6)?, node.input(7)?);
    Ok(vec![requantized(im, sum, (a_scale, b_scale), result)?])
}

fn qlinear_conv(im: &mut Importer, node: &Node) -> Converted {
    let x = Quantized { numbers: node.input(0)?, zero: node.opt(2) };
    let w = Quantized { numbers: node.input(3)?, zero: node.opt(5) };
    let rank = im.rank(x.numbers)?;
    let mut sum = convolve(im, node, x, w)?;
    if let Some(bias) = node.opt(8) {
        let bias = im.along_channels(bias, rank)?;
        sum = im.add(sum, bias)?;
    }
    let x_scale = placed(im, node.input(1)?, rank, Place::Columns)?;
    // Scales of the filters stand along the channels of the result.
    let w_scale = placed(im, node.input(4)?, rank - 1, Place::Filters)?;
    let result = (node.input(6)?, node.input(7)?);
    Ok(vec![requantized(im, sum, (x_scale, w_scale), result)?])
}
