//! GELU in four forms, with what is added before.
//!
//!     Gelu, BiasGelu   x Phi(x)               by the error function
//!     FastGelu         x Phi(x)               by a hyperbolic tangent
//!     QuickGelu        x sigmoid(alpha x)
//!     BiasSplitGelu    a Gelu(b)              of the two halves of a row

use super::{plus, row};
use crate::onnx::build::{Converted, Made};
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::nn::activation::{Normal, gelu_of, swish};

pub const ROWS: &[Conversion] = &[
    row("Gelu", |im, node| one(im, node, |im, x| gelu_of(im, x, Normal::Exact))),
    row("BiasGelu", |im, node| one(im, node, |im, x| gelu_of(im, x, Normal::Exact))),
    row("FastGelu", |im, node| one(im, node, |im, x| gelu_of(im, x, Normal::Tanh))),
    row("QuickGelu", |im, node| {
        let alpha = node.float("alpha", 1.702)?;
        one(im, node, |im, x| swish(im, x, alpha))
    }),
    row("BiasSplitGelu", |im, node| {
        one(im, node, |im, x| {
            let last = im.rank(x)?.saturating_sub(1);
            let half = im.extent(x, last, "the operand")? / 2;
            let (a, b) = (im.slice(x, last, 0, half)?, im.slice(x, last, half, 2 * half)?);
            let bent = gelu_of(im, b, Normal::Exact)?;
            im.mul(a, bent)
        })
    }),
    row("BiasAdd", |im, node| {
        let sum = im.add(node.input(0)?, node.input(1)?)?;
        Ok(vec![im.add(sum, node.input(2)?)?])
    }),
];

/// A function of the operand and its bias, in f32 where the operand has half floats.
fn one(im: &mut Importer, node: &Node, f: impl FnOnce(&mut Importer, Value) -> Made) -> Converted {
    let x = node.input(0)?;
    let dtype = im.dtype(x)?;
    let x = plus(im, x, node.opt(1))?;
    let wide = im.wide(x)?;
    let y = f(im, wide)?;
    Ok(vec![im.cast(y, dtype)?])
}
