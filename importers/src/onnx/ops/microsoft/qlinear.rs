//! Operators of quantized numbers: what the operator of floats gives for the numbers that they stand for, quantized.
//!
//!     q = saturate(round(f(a_scale (a - a_zero), ..) / q_scale) + q_zero)
//!
//! Sums and products take their scales by that of the result first, as ONNX Runtime does: a_scale / q_scale is one number.

use fusion_operators::DType;
use fusion_operators::ops::elementwise::SIGMOID;
use fusion_operators::ops::{pooling as pool, reduction};

use super::fused::{channels_first, channels_last};
use super::{asked_one, row};
use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::arithmetic::quantization::{number_of, quantized_as, saturated};

pub const ROWS: &[Conversion] = &[
    row("QLinearAdd", |im, node| {
        let (a, b) = (rescaled(im, node, 0, 6)?, rescaled(im, node, 3, 6)?);
        let y = im.add(a, b)?;
        saturated_as(im, node, y, (7, 0))
    }),
    row("QLinearMul", |im, node| {
        let (a, b) = (real(im, node, 0)?, rescaled(im, node, 3, 6)?);
        let y = im.mul(a, b)?;
        saturated_as(im, node, y, (7, 0))
    }),
    row("QLinearSigmoid", sigmoid),
    row("QLinearLeakyRelu", |im, node| {
        let x = real(im, node, 0)?;
        let y = asked_one(im, node, ("LeakyRelu", 16), &[Some(x)])?;
        quantized(im, node, y, (3, 0))
    }),
    row("QLinearSoftmax", |im, node| {
        let x = real(im, node, 0)?;
        let version = node.required_int("opset")?;
        let y = asked_one(im, node, ("Softmax", version), &[Some(x)])?;
        quantized(im, node, y, (3, 0))
    }),
    row("QLinearAveragePool", |im, node| {
        let x = real(im, node, 0)?;
        let y = spatial(im, node, x, |im, x| asked_one(im, node, ("AveragePool", 19), &[Some(x)]))?;
        quantized(im, node, y, (3, 0))
    }),
    row("QLinearGlobalAveragePool", |im, node| {
        let x = real(im, node, 0)?;
        let y = spatial(im, node, x, |im, x| im.un(&pool::GLOBAL_AVG_POOL, x))?;
        quantized(im, node, y, (3, 0))
    }),
    row("QLinearReduceMean", |im, node| {
        let x = real(im, node, 0)?;
        let rank = im.rank(x)?;
        let axes = node.ints("axes")?.unwrap_or_default();
        let axes = match axes {
            [] => (0..rank).collect(),
            axes => axes.iter().map(|&axis| axis_in(axis, rank)).collect::<Result<Vec<_>, _>>()?,
        };
        let y = im.reduce(&reduction::REDUCE_MEAN, x, &axes, node.int("keepdims", 1)? != 0)?;
        quantized(im, node, y, (3, 0))
    }),
    row("QLinearWhere", |im, node| {
        let (x, y) = (real(im, node, 1)?, real(im, node, 4)?);
        let y = im.select(node.input(0)?, x, y)?;
        quantized(im, node, y, (7, 1))
    }),
    row("QLinearConcat", |im, node| {
        let parts =
            (2..node.inputs.len()).step_by(3).map(|at| real(im, node, at)).collect::<Result<Vec<_>, _>>()?;
        let axis = match parts.first() {
            Some(&first) => im.axis(first, node.required_int("axis")?)?,
            None => 0,
        };
        let y = im.concat(&parts, axis)?;
        quantized(im, node, y, (0, 2))
    }),
    row("QLinearConv", |im, node| {
        let mut operands: Vec<Option<Value>> = node.inputs.clone();
        if !node.flag("channels_last")? {
            return super::asked(im, node, ("QLinearConv", 10), &operands);
        }
        operands[0] = Some(channels_first(im, node.input(0)?)?);
        let y = asked_one(im, node, ("QLinearConv", 10), &operands)?;
        Ok(vec![channels_last(im, y)?])
    }),
];

/// There are 256 results: where the scales are known, they are a table.
fn sigmoid(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let least = match im.dtype(x)? {
        DType::I8 => -128.0,
        _ => 0.0,
    };
    let is_known = (1..node.inputs.len()).filter_map(|i| node.opt(i)).all(|v| im.constant_of(v).is_some());
    let mut table = node.clone();
    if is_known {
        let codes = im.arange(DType::I32, 256, least, 1.0)?;
        table.inputs[0] = Some(im.cast(codes, im.dtype(x)?)?);
    }
    let numbers = real(im, &table, 0)?;
    let y = im.un(&SIGMOID, numbers)?;
    let y = quantized(im, node, y, (3, 0))?;
    if !is_known {
        return Ok(y);
    }
    let code = im.cast(x, DType::I32)?;
    let place = if least == 0.0 { code } else { im.add_f(code, -least)? };
    Ok(vec![im.gather(y[0], place, 0)?])
}

/// The numbers an operand stands for; its scale and its zero point stand behind it.
fn real(im: &mut Importer, node: &Node, at: usize) -> Made {
    number_of(im, node.input(at)?, node.input(at + 1)?, node.opt(at + 2))
}

/// The same, in steps of the result, whose scale is operand `to`.
fn rescaled(im: &mut Importer, node: &Node, at: usize, to: usize) -> Made {
    let [own, to] = [node.input(at + 1)?, node.input(to)?].map(|scale| im.reshape(scale, &[]));
    let ratio = im.div(own?, to?)?;
    number_of(im, node.input(at)?, ratio, node.opt(at + 2))
}

/// Steps of the result rounded, with the zero point there, in the type of an operand.
fn saturated_as(im: &mut Importer, node: &Node, y: Value, (zero, like): (usize, usize)) -> Converted {
    let dtype = im.dtype(node.input(like)?)?;
    let zero = node.opt(zero).map(|zero| im.reshape(zero, &[])).transpose()?;
    Ok(vec![saturated(im, y, zero, dtype)?])
}

/// The result of a scale and zero point there, in the type of an operand.
fn quantized(im: &mut Importer, node: &Node, y: Value, (at, like): (usize, usize)) -> Converted {
    let dtype = im.dtype(node.input(like)?)?;
    Ok(vec![quantized_as(im, y, (node.input(at)?, node.opt(at + 1)), dtype)?])
}

/// A function of an image whose channels come second, of one whose channels may come last.
fn spatial<'m>(
    im: &mut Importer<'m>,
    node: &Node<'m>,
    x: Value,
    f: impl FnOnce(&mut Importer<'m>, Value) -> Made,
) -> Made {
    if !node.flag("channels_last")? {
        return f(im, x);
    }
    let x = channels_first(im, x)?;
    let y = f(im, x)?;
    channels_last(im, y)
}
