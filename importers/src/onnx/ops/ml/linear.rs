//! Linear models: scores are a product with the coefficients.
//!
//!     score[n, c] = sum_f x[n, f] w[c, f] + b[c]

use fusion_operators::ops::{contraction::DENSE, elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

use super::labels::Labels;
use super::row;
use super::scores::{Transform, columns, transformed};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[
    row("LinearRegressor", |im, node| {
        let targets = node.int("targets", 1)?;
        let y = scores(im, node, usize::try_from(targets).unwrap_or(0))?;
        Ok(vec![transformed(im, y, Transform::read(node)?)?])
    }),
    row("LinearClassifier", classifier),
];

/// Rows of features as f32; a vector is one row.
pub fn rows(im: &mut Importer, node: &Node) -> Made {
    let x = im.cast(node.input(0)?, DType::F32)?;
    match im.rank(x)? {
        1 => im.expand_dims(x, &[0]),
        2 => Ok(x),
        _ => Err(Fault::value(format!("the features must have rank 1 or 2, found {}", im.ty(x)?))),
    }
}

fn scores(im: &mut Importer, node: &Node, targets: usize) -> Made {
    let x = rows(im, node)?;
    let features = im.extent(x, 1, "the features")?;
    let coefficients = node.floats("coefficients")?.unwrap_or_default();
    if targets == 0 || targets.checked_mul(features as usize) != Some(coefficients.len()) {
        return Err(Fault::value(format!(
            "{targets} targets of {features} features need {targets} x {features} coefficients, found {}",
            coefficients.len()
        )));
    }
    let w = im.floats(DType::F32, &[targets, features as usize], &coefficients)?;
    let y = im.op(&DENSE, &[x, w], Attrs::new())?;
    let intercepts = node.floats("intercepts")?.unwrap_or_default();
    match intercepts.len() {
        0 => Ok(y),
        n if n == targets => {
            let b = im.floats(DType::F32, &[n], &intercepts)?;
            im.add(y, b)
        }
        n => Err(Fault::value(format!("{n} intercepts are given for {targets} targets"))),
    }
}

/// One score of two classes is that of the second, which is chosen above 0.
fn classifier(im: &mut Importer, node: &Node) -> Converted {
    let labels = Labels::of_classes(node)?;
    let coefficients = node.floats("coefficients")?.unwrap_or_default().len();
    let x = rows(im, node)?;
    let features = im.extent(x, 1, "the features")?.max(1) as usize;
    let y = scores(im, node, coefficients / features)?;
    let transform = Transform::read(node)?;
    if im.extent(y, 1, "the scores")? == 1 && labels.count() == 2 {
        let score = im.squeeze(y, &[1])?;
        let none = im.like(score, 0.0)?;
        let chosen = im.bin(&ew::GREATER, score, none)?;
        let label = labels.at(im, chosen)?;
        return Ok(vec![label, columns(im, y, transform, true)?]);
    }
    let chosen = im.op(&reduction::ARGMAX, &[y], Attrs::new().with("axis", 1i64))?;
    let label = labels.at(im, chosen)?;
    let scores: Value = transformed(im, y, transform)?;
    Ok(vec![label, scores])
}
