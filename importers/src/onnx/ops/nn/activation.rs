//! Activations: each is its defining formula (ONNX operator documentation) in elementwise operators.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use fusion_operators::ops::{elementwise as ew, indexing, normalization, reduction};
use fusion_operators::{Attrs, Operator};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("Elu", |im, node| {
        let alpha = node.float("alpha", 1.0)?;
        one(im, node, |im, x| elu(im, x, alpha))
    }),
    row("Selu", |im, node| {
        let (alpha, gamma) = match node.version < 6 {
            true => (1.6732, 1.0507),
            false => (1.673_263_192_176_818_8, 1.050_701_022_148_132_3),
        };
        let (alpha, gamma) = (node.float("alpha", alpha)?, node.float("gamma", gamma)?);
        one(im, node, |im, x| {
            let unscaled = elu(im, x, alpha)?;
            im.mul_f(unscaled, gamma)
        })
    }),
    row("Celu", |im, node| {
        let alpha = node.float("alpha", 1.0)?;
        one(im, node, |im, x| {
            // alpha * elu(x / alpha) is alpha * (exp(x / alpha) - 1) below 0 and x above.
            let scaled = im.mul_f(x, 1.0 / alpha)?;
            let low = elu(im, scaled, 1.0)?;
            im.mul_f(low, alpha)
        })
    }),
    row("LeakyRelu", |im, node| {
        let alpha = node.float("alpha", 0.01)?;
        one(im, node, |im, x| leaky_relu(im, x, alpha))
    }),
    row("PRelu", prelu),
    row("ThresholdedRelu", |im, node| {
        let alpha = node.float("alpha", 1.0)?;
        one(im, node, |im, x| {
            let (bound, zero) = (im.like(x, alpha)?, im.like(x, 0.0)?);
            let above = im.bin(&ew::GREATER, x, bound)?;
            im.select(above, x, zero)
        })
    }),
    row("HardSigmoid", |im, node| {
        let (alpha, beta) = (node.float("alpha", 0.2)?, node.float("beta", 0.5)?);
        one(im, node, |im, x| hard_sigmoid(im, x, alpha, beta))
    }),
    row("HardSwish", |im, node| one(im, node, hard_swish)),
    row("Softplus", |im, node| one(im, node, softplus)),
    row("Mish", |im, node| {
        one(im, node, |im, x| {
            let soft = softplus(im, x)?;
            let gate = im.un(&ew::TANH, soft)?;
            im.mul(x, gate)
        })
    }),
    row("Swish", |im, node| {
        let alpha = node.float("alpha", 1.0)?;
        one(im, node, |im, x| swish(im, x, alpha))
    }),
    row("SwiGLU", |im, node| {
        let (alpha, b) = (node.float("alpha", 1.0)?, node.input(1)?);
        if im.rank(node.input(0)?)? != im.rank(b)? {
            let (a, b) = (im.ty(node.input(0)?)?, im.ty(b)?);
            return Err(Fault::value(format!("the operands must have one shape, found {a} and {b}")));
        }
        one(im, node, |im, x| {
            let gate = swish(im, x, alpha)?;
            let b = im.wide(b)?;
            im.mul(gate, b)
        })
    }),
    row("Gelu", gelu),
    row("Shrink", shrink),
    row("Softmax", |im, node| soft(im, node, &normalization::SOFTMAX)),
    row("LogSoftmax", |im, node| soft(im, node, &normalization::LOG_SOFTMAX)),
    row("Hardmax", |im, node| along_axis(im, node, hardmax)),
];

/// A function of one operand, computed in f32 where the operand has half floats.
fn one(im: &mut Importer, node: &Node, f: impl FnOnce(&mut Importer, Value) -> Made) -> Converted {
    let x = node.input(0)?;
    let dtype = im.dtype(x)?;
    let wide = im.wide(x)?;
    let result = f(im, wide)?;
    Ok(vec![im.cast(result, dtype)?])
}

fn below_zero(im: &mut Importer, x: Value, then: Value, otherwise: Value) -> Made {
    let negative = im.less_f(x, 0.0)?;
    im.select(negative, then, otherwise)
}

/// x < 0 ? alpha * (exp(x) - 1) : x
pub fn elu(im: &mut Importer, x: Value, alpha: f64) -> Made {
    let power = im.un(&ew::EXP, x)?;
    let less = im.add_f(power, -1.0)?;
    let low = im.mul_f(less, alpha)?;
    below_zero(im, x, low, x)
}

/// x * sigmoid(alpha * x)
pub fn swish(im: &mut Importer, x: Value, alpha: f64) -> Made {
    let scaled = if alpha == 1.0 { x } else { im.mul_f(x, alpha)? };
    let gate = im.un(&ew::SIGMOID, scaled)?;
    im.mul(x, gate)
}

/// x < 0 ? alpha * x : x
pub fn leaky_relu(im: &mut Importer, x: Value, alpha: f64) -> Made {
    let low = im.mul_f(x, alpha)?;
    below_zero(im, x, low, x)
}

/// x * min(max(x / 6 + 1/2, 0), 1)
pub fn hard_swish(im: &mut Importer, x: Value) -> Made {
    let gate = hard_sigmoid(im, x, 1.0 / 6.0, 0.5)?;
    im.mul(x, gate)
}

/// min(max(alpha * x + beta, 0), 1)
pub fn hard_sigmoid(im: &mut Importer, x: Value, alpha: f64, beta: f64) -> Made {
    let scaled = im.mul_f(x, alpha)?;
    let shifted = im.add_f(scaled, beta)?;
    im.clip(shifted, 0.0, 1.0)
}

/// log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|)), which does not overflow and keeps its digits far below 0.
pub fn softplus(im: &mut Importer, x: Value) -> Made {
    let size = im.un(&ew::ABS, x)?;
    let negative = im.un(&ew::NEG, size)?;
    let power = im.un(&ew::EXP, negative)?;
    let rest = im.un(&ew::LOG1P, power)?;
    let positive = im.un(&ew::RELU, x)?;
    im.add(positive, rest)
}

/// x < 0 ? slope * x : x. Before version 7 a vector of slopes stands along the channels.
fn prelu(im: &mut Importer, node: &Node) -> Converted {
    let (x, mut slope) = (node.input(0)?, node.input(1)?);
    if node.version < 7 && im.rank(slope)? == 1 && im.rank(x)? > 1 && im.ty(slope)?.elements() != Some(1) {
        slope = im.along_channels(slope, im.rank(x)?)?;
    }
    let low = im.mul(slope, x)?;
    Ok(vec![below_zero(im, x, low, x)?])
}

/// How the normal distribution in a GELU is computed.
#[derive(Clone, Copy, PartialEq)]
pub enum Normal {
    /// By the error function.
    Exact,
    /// By a hyperbolic tangent.
    Tanh,
}

fn gelu(im: &mut Importer, node: &Node) -> Converted {
    let normal = match node.string("approximate", "none")? {
        "none" => Normal::Exact,
        "tanh" => Normal::Tanh,
        _ => return Err(Fault::Attribute { name: "approximate".into(), expected: "none or tanh" }),
    };
    one(im, node, |im, x| gelu_of(im, x, normal))
}

/// x / 2 * (1 + erf(x / sqrt(2))), or 1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) in place of the last factor
pub fn gelu_of(im: &mut Importer, x: Value, normal: Normal) -> Made {
    let bent = match normal {
        Normal::Tanh => {
            let square = im.mul(x, x)?;
            let scaled = im.mul_f(square, 0.044715)?;
            let more = im.add_f(scaled, 1.0)?;
            let inner = im.mul(x, more)?;
            let inner = im.mul_f(inner, FRAC_2_SQRT_PI * FRAC_1_SQRT_2)?;
            im.un(&ew::TANH, inner)?
        }
        Normal::Exact => {
            let inner = im.mul_f(x, FRAC_1_SQRT_2)?;
            im.un(&ew::ERF, inner)?
        }
    };
    let gate = im.add_f(bent, 1.0)?;
    let half = im.mul_f(x, 0.5)?;
    im.mul(half, gate)
}

/// x + bias below -lambd, x - bias above lambd, 0 between.
fn shrink(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let (bias, lambd) = (node.float("bias", 0.0)?, node.float("lambd", 0.5)?);
    let (low, high) = (im.add_f(x, bias)?, im.add_f(x, -bias)?);
    let (bound, zero) = (im.like(x, lambd)?, im.like(x, 0.0)?);
    let above = im.bin(&ew::GREATER, x, bound)?;
    let upper = im.select(above, high, zero)?;
    let below = im.less_f(x, -lambd)?;
    Ok(vec![im.select(below, low, upper)?])
}

fn soft(im: &mut Importer, node: &Node, op: &'static Operator) -> Converted {
    along_axis(im, node, |im, x, axis| im.op(op, &[x], Attrs::new().with("axis", axis as i64)))
}

/// Since version 13 along one axis; before, over all axes from `axis` on, flattened to one.
fn along_axis(
    im: &mut Importer,
    node: &Node,
    f: impl FnOnce(&mut Importer, Value, usize) -> Made,
) -> Converted {
    let x = node.input(0)?;
    if node.version >= 13 {
        let axis = im.axis(x, node.int("axis", -1)?)?;
        return Ok(vec![f(im, x, axis)?]);
    }
    let (axis, rank) = (im.axis(x, node.int("axis", 1)?)?, im.rank(x)?);
    if axis + 1 == rank {
        return Ok(vec![f(im, x, axis)?]);
    }
    let shape = im.shape(x, "the operand")?;
    let rows = shape[..axis].iter().product::<i64>();
    let flat = im.reshape(x, &[rows, shape[axis..].iter().product()])?;
    let result = f(im, flat, 1)?;
    Ok(vec![im.reshape(result, &shape)?])
}

/// 1 at the first greatest element along the axis, else 0.
fn hardmax(im: &mut Importer, x: Value, axis: usize) -> Made {
    let place = im.op(&reduction::ARGMAX, &[x], Attrs::new().with("axis", axis as i64))?;
    let (on, off) = (im.like(x, 1.0)?, im.like(x, 0.0)?);
    let depth = im.extent(x, axis, "the operand")?;
    im.op(&indexing::ONE_HOT, &[place, on, off], Attrs::new().with("depth", depth).with("axis", axis as i64))
}
