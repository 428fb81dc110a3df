//! Products of integers whose results are floats, or are quantized again.
//!
//!     MatMulIntegerToFloat   y = (a - p) (b - q) a_scale b_scale + bias
//!     DynamicQuantizeMatMul  the same, of a that is quantized to 8 bits by its own range first
//!     DynamicQuantizeLSTM    an LSTM whose products are such
//!     QGemm                  y = alpha a_scale b_scale ((a - p) (b - q) + c)      quantized, if it has a scale

use fusion_operators::DType;

use super::{plus, row};
use crate::onnx::build::Converted;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::Node;
use crate::onnx::ops::Conversion;
use crate::onnx::ops::arithmetic::integer_products::{Quantized, matmul, scaled};
use crate::onnx::ops::arithmetic::quantization::{by_own_range, quantized_as};
use crate::onnx::ops::nn::recurrent::{Kind, recurrent};

pub const ROWS: &[Conversion] = &[
    row("MatMulIntegerToFloat", |im, node| {
        let a = Quantized { numbers: node.input(0)?, zero: node.opt(4) };
        let b = Quantized { numbers: node.input(1)?, zero: node.opt(5) };
        let y = scaled(im, (a, node.input(2)?), (b, node.input(3)?))?;
        Ok(vec![plus(im, y, node.opt(6))?])
    }),
    row("DynamicQuantizeMatMul", |im, node| {
        let (numbers, scale, zero) = by_own_range(im, node.input(0)?)?;
        let a = Quantized { numbers, zero: Some(zero) };
        let b = Quantized { numbers: node.input(1)?, zero: node.opt(3) };
        let y = scaled(im, (a, scale), (b, node.input(2)?))?;
        Ok(vec![plus(im, y, node.opt(4))?])
    }),
    row("MatMulInteger16", |im, node| {
        let (a, b) = (im.cast(node.input(0)?, DType::I32)?, im.cast(node.input(1)?, DType::I32)?);
        Ok(vec![crate::onnx::ops::arithmetic::contraction::matmul(im, a, b)?])
    }),
    row("QGemm", q_gemm),
    row("DynamicQuantizeLSTM", |im, node| recurrent(im, node, Kind::Lstm, true)),
];

fn q_gemm(im: &mut Importer, node: &Node) -> Converted {
    let side = |im: &mut Importer, at: usize, flip: bool| -> Result<Quantized, Fault> {
        let numbers = node.input(at)?;
        if im.rank(numbers)? != 2 {
            return Err(Fault::value(format!("operand {at} must be a matrix, found {}", im.ty(numbers)?)));
        }
        let numbers = if flip { im.swap(numbers, 0, 1)? } else { numbers };
        Ok(Quantized { numbers, zero: node.opt(at + 2) })
    };
    let (a, b) = (side(im, 0, node.flag("transA")?)?, side(im, 3, node.flag("transB")?)?);
    let (a_scale, b_scale) = (node.input(1)?, node.input(4)?);
    let sum = matmul(im, a, b)?;
    let sum = plus(im, sum, node.opt(6))?;
    let dtype = im.dtype(a_scale)?;
    let sum = im.cast(sum, dtype)?;
    let factor = im.mul(a_scale, b_scale)?;
    let factor = im.mul_f(factor, node.float("alpha", 1.0)?)?;
    let y = im.mul(sum, factor)?;
    match node.opt(7) {
        None => Ok(vec![y]),
        Some(scale) => {
            let zero = node.opt(8);
            let to = match zero {
                Some(zero) => im.dtype(zero)?,
                None => im.dtype(a.numbers)?,
            };
            Ok(vec![quantized_as(im, y, (scale, zero), to)?])
        }
    }
}
