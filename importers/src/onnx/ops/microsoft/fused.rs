//! Products and convolutions with what ONNX Runtime fuses to them.
//!
//!     FusedMatMul   alpha A B         each side transposed as its flags say
//!     FusedGemm     activation(Gemm)
//!     FusedConv     activation(Conv(x, w, b) + z)
//!     NhwcConv      Conv of images with channels last, NhwcFusedConv with an activation

use fusion_operators::ops::elementwise as ew;

use super::{asked_one, plus, row};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::arithmetic::contraction::matmul;
use crate::onnx::ops::nn::activation::{hard_sigmoid, hard_swish, leaky_relu};

pub const ROWS: &[Conversion] = &[
    row("FusedMatMul", fused_matmul),
    row("TransposeMatMul", fused_matmul),
    row("FusedGemm", |im, node| {
        let operands = [node.opt(0), node.opt(1), node.opt(2)];
        let y = asked_one(im, node, ("Gemm", 13), &operands)?;
        let parameter = |name: &str| node.opt_float(name);
        let bend = [parameter("activation_alpha")?, parameter("activation_beta")?];
        Ok(vec![activated(im, node, y, bend)?])
    }),
    row("FusedConv", |im, node| {
        let y = asked_one(im, node, ("Conv", 11), &[node.opt(0), node.opt(1), node.opt(2)])?;
        let y = plus(im, y, node.opt(3))?;
        Ok(vec![activated(im, node, y, listed(node)?)?])
    }),
    row("NhwcConv", nhwc_conv),
    row("NhwcFusedConv", nhwc_conv),
];

fn fused_matmul(im: &mut Importer, node: &Node) -> Converted {
    let (a, b) = (node.input(0)?, node.input(1)?);
    let a = flipped(im, a, node.flag("transBatchA")?, node.flag("transA")?)?;
    let b = flipped(im, b, node.flag("transBatchB")?, node.flag("transB")?)?;
    let y = matmul(im, a, b)?;
    let alpha = node.float("alpha", 1.0)?;
    Ok(vec![if alpha == 1.0 { y } else { im.mul_f(y, alpha)? }])
}

/// The first axis moved behind those of the batch, and the last two swapped. Vectors have neither.
fn flipped(im: &mut Importer, x: Value, batch: bool, matrix: bool) -> Made {
    let rank = im.rank(x)?;
    if rank < 2 {
        return Ok(x);
    }
    let mut axes: Vec<usize> = (0..rank).collect();
    if batch {
        axes[..rank - 1].rotate_left(1);
    }
    if matrix {
        axes.swap(rank - 2, rank - 1);
    }
    im.transpose(x, &axes)
}

/// The parameters of an activation as a list.
fn listed(node: &Node) -> Result<[Option<f64>; 2], Fault> {
    let list = node.floats("activation_params")?.unwrap_or_default();
    Ok([list.first().copied(), list.get(1).copied()])
}

/// A function of a number and two parameters.
type Bend = fn(&mut Importer, Value, [Option<f64>; 2]) -> Made;

const ACTIVATIONS: [(&str, Bend); 7] = [
    ("Relu", |im, y, _| im.un(&ew::RELU, y)),
    ("Sigmoid", |im, y, _| im.un(&ew::SIGMOID, y)),
    ("Tanh", |im, y, _| im.un(&ew::TANH, y)),
    ("LeakyRelu", |im, y, [alpha, _]| leaky_relu(im, y, alpha.unwrap_or(0.01))),
    ("Clip", |im, y, [least, most]| {
        im.clip(y, least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY))
    }),
    ("HardSigmoid", |im, y, [alpha, beta]| hard_sigmoid(im, y, alpha.unwrap_or(0.2), beta.unwrap_or(0.5))),
    ("HardSwish", |im, y, _| hard_swish(im, y)),
];

fn activated(im: &mut Importer, node: &Node, y: Value, parameters: [Option<f64>; 2]) -> Made {
    let name = node.string("activation", "")?;
    if name.is_empty() {
        return Ok(y);
    }
    match ACTIVATIONS.iter().find(|(known, _)| *known == name) {
        Some((_, bend)) => bend(im, y, parameters),
        None => Err(Fault::unsupported(format!("the activation '{name}'"))),
    }
}

/// Images are `[n, h, w, c]`, filters `[f, c, h, w]`.
fn nhwc_conv<'m>(im: &mut Importer<'m>, node: &Node<'m>) -> Converted {
    let x = channels_first(im, node.input(0)?)?;
    let y = asked_one(im, node, ("Conv", 11), &[Some(x), node.opt(1), node.opt(2)])?;
    let y = channels_last(im, y)?;
    let y = plus(im, y, node.opt(3))?;
    Ok(vec![activated(im, node, y, listed(node)?)?])
}

/// `[n, .., c]` as `[n, c, ..]`.
pub fn channels_first(im: &mut Importer, x: Value) -> Made {
    let mut axes: Vec<usize> = (0..im.rank(x)?).collect();
    if axes.len() > 2 {
        axes[1..].rotate_right(1);
    }
    im.transpose(x, &axes)
}

/// `[n, c, ..]` as `[n, .., c]`.
pub fn channels_last(im: &mut Importer, x: Value) -> Made {
    let mut axes: Vec<usize> = (0..im.rank(x)?).collect();
    if axes.len() > 2 {
        axes[1..].rotate_left(1);
    }
    im.transpose(x, &axes)
}
