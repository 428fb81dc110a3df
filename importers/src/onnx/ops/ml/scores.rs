//! What becomes of scores: the attribute `post_transform`.
//!
//!     SOFTMAX        softmax of a row                  SOFTMAX_ZERO   of its numbers other than 0; a 0 gives almost 0
//!     LOGISTIC       1 / (1 + exp(-x))                 PROBIT         the inverse of the normal distribution, of x in 0 .. 1
//!
//! PROBIT is an approximation that is off by 2e-3 at most (Winitzki, "A handy approximation for the error function", 2008),
//! the same as ONNX Runtime's.

use std::f64::consts::{PI, SQRT_2};

use fusion_operators::ops::{elementwise as ew, reduction};

use crate::onnx::build::Made;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};

/// What is done to scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transform {
    None,
    Softmax,
    Logistic,
    SoftmaxZero,
    Probit,
}

/// Names, by the numbers of TreeEnsemble's attribute.
pub const TRANSFORMS: [(&str, Transform); 5] = [
    ("NONE", Transform::None),
    ("SOFTMAX", Transform::Softmax),
    ("LOGISTIC", Transform::Logistic),
    ("SOFTMAX_ZERO", Transform::SoftmaxZero),
    ("PROBIT", Transform::Probit),
];

impl Transform {
    /// The attribute of a node.
    pub fn read(node: &Node) -> Result<Transform, Fault> {
        let name = node.string("post_transform", "NONE")?;
        let found = TRANSFORMS.iter().find(|(known, _)| *known == name);
        found.map(|(_, transform)| *transform).ok_or_else(|| Fault::Attribute {
            name: "post_transform".into(),
            expected: "NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT",
        })
    }
}

/// Scores `[n, classes]` as they are given on.
pub fn transformed(im: &mut Importer, scores: Value, transform: Transform) -> Made {
    match transform {
        Transform::None => Ok(scores),
        Transform::Softmax => im.softmax(scores, 1),
        Transform::Logistic => im.un(&ew::SIGMOID, scores),
        Transform::SoftmaxZero => softmax_zero(im, scores),
        Transform::Probit => probit(im, scores),
    }
}

/// Scores of the second of two classes, `[n, 1]`, as a column a class: those of the first are the rest to 1 of probabilities,
/// else of the other sign.
pub fn columns(im: &mut Importer, score: Value, transform: Transform, probabilities: bool) -> Made {
    let other = if probabilities { im.f_sub(1.0, score)? } else { im.un(&ew::NEG, score)? };
    let (first, second) = match transform {
        Transform::Logistic => {
            let negative = im.un(&ew::NEG, score)?;
            (im.un(&ew::SIGMOID, negative)?, im.un(&ew::SIGMOID, score)?)
        }
        Transform::Probit => (probit(im, other)?, probit(im, score)?),
        _ => (other, score),
    };
    im.concat(&[first, second], 1)
}

fn softmax_zero(im: &mut Importer, scores: Value) -> Made {
    let most = im.reduce(&reduction::REDUCE_MAX, scores, &[1], true)?;
    let below = im.sub(scores, most)?;
    let power = im.un(&ew::EXP, below)?;
    let size = im.un(&ew::ABS, scores)?;
    let bound = im.like(size, 1e-7)?;
    let counts = im.bin(&ew::GREATER, size, bound)?;
    let none = im.like(power, 0.0)?;
    let counted = im.select(counts, power, none)?;
    let sum = im.sum(counted, &[1], true)?;
    let lowest = im.un(&ew::NEG, most)?;
    let lowest = im.un(&ew::EXP, lowest)?;
    let others = im.mul(scores, lowest)?;
    let all = im.select(counts, power, others)?;
    // Of zeros alone nothing can be divided.
    let empty = im.equal_f(sum, 0.0)?;
    let one = im.like(sum, 1.0)?;
    let sum = im.select(empty, one, sum)?;
    im.div(all, sum)
}

/// sqrt(2) erfinv(2 x - 1)
fn probit(im: &mut Importer, x: Value) -> Made {
    const A: f64 = 0.147;
    let twice = im.mul_f(x, 2.0)?;
    let z = im.add_f(twice, -1.0)?;
    let square = im.mul(z, z)?;
    let rest = im.f_sub(1.0, square)?;
    let log = im.un(&ew::LOG, rest)?;
    let half = im.mul_f(log, 0.5)?;
    let v = im.add_f(half, 2.0 / (PI * A))?;
    let w = im.mul_f(log, 1.0 / A)?;
    let v_square = im.mul(v, v)?;
    let inner = im.sub(v_square, w)?;
    let root = im.un(&ew::SQRT, inner)?;
    let size = im.sub(root, v)?;
    let size = im.un(&ew::SQRT, size)?;
    let sign = im.un(&ew::SIGN, z)?;
    let signed = im.mul(sign, size)?;
    im.mul_f(signed, SQRT_2)
}
