//! Losses.

use fusion_operators::Attrs;
use fusion_operators::DType;
use fusion_operators::ops::{elementwise as ew, indexing, normalization};

use crate::onnx::build::Made;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("NegativeLogLikelihoodLoss", |im, node| Ok(vec![likelihood(im, node, node.input(0)?)?])),
    row("SoftmaxCrossEntropyLoss", |im, node| {
        let attrs = Attrs::new().with("axis", 1i64);
        let log = im.op(&normalization::LOG_SOFTMAX, &[node.input(0)?], attrs)?;
        Ok(vec![likelihood(im, node, log)?, log])
    }),
];

/// -weight[target] * x[n, target, ...], and its sum or its mean by weight.
fn likelihood(im: &mut Importer, node: &Node, x: Value) -> Made {
    let target = im.cast(node.input(1)?, DType::I64)?;
    let reduction = node.string("reduction", "mean")?;
    let ignored = match node.opt_int("ignore_index")? {
        Some(index) => Some(im.equal_f(target, index as f64)?),
        None => None,
    };
    let zero = im.like(target, 0.0)?;
    let class = match ignored {
        Some(ignored) => im.select(ignored, zero, target)?,
        None => target,
    };
    let column = im.expand_dims(class, &[1])?;
    let picked = im.op(&indexing::GATHER_ELEMENTS, &[x, column], Attrs::new().with("axis", 1i64))?;
    let picked = im.squeeze(picked, &[1])?;
    let mut weight = match node.opt(2) {
        Some(weight) => Some(im.gather(weight, class, 0)?),
        None => None,
    };
    if let Some(ignored) = ignored {
        let (none, one) = (im.like(x, 0.0)?, im.like(x, 1.0)?);
        weight = Some(im.select(ignored, none, weight.unwrap_or(one))?);
    }
    let loss = im.un(&ew::NEG, picked)?;
    let loss = match weight {
        Some(weight) => im.mul(loss, weight)?,
        None => loss,
    };
    let axes: Vec<usize> = (0..im.rank(loss)?).collect();
    match (reduction, weight) {
        ("none", _) => Ok(loss),
        ("sum", _) => im.sum(loss, &axes, false),
        ("mean", None) => im.mean(loss, &axes, false),
        ("mean", Some(weight)) => {
            let (sum, total) = (im.sum(loss, &axes, false)?, im.sum(weight, &axes, false)?);
            im.div(sum, total)
        }
        _ => Err(Fault::Attribute { name: "reduction".into(), expected: "none, sum or mean" }),
    }
}
