//! Support vector machines.
//!
//!     LINEAR  x . s       POLY  (gamma x . s + c)^degree       RBF  exp(-gamma |x - s|^2)       SIGMOID  tanh(gamma x . s + c)
//!     regressor:   y = sum_s coefficient[s] K(x, s) + rho
//!     classifier:  one vote for each pair of classes i < j, for i where sum over their vectors + rho > 0
//!
//! The vectors of class i have coefficients against every other class: row j - 1 against a class j > i, row j against j < i
//! (LIBSVM's layout). Without support vectors the coefficients are a linear model of each class.

use fusion_operators::ops::{contraction::DENSE, elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

use super::labels::Labels;
use super::linear::rows;
use super::row;
use super::scores::{Transform, columns, transformed};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[row("SVMRegressor", regressor), row("SVMClassifier", classifier)];

fn list(node: &Node, name: &str) -> Result<Vec<f64>, Fault> {
    Ok(node.floats(name)?.unwrap_or_default())
}

/// K(x, s) for each row and vector, `[n, vectors]`; vectors are rows of the features.
fn kernel(im: &mut Importer, node: &Node, x: Value, vectors: &[f64]) -> Made {
    let features = im.extent(x, 1, "the features")?.max(1) as usize;
    if vectors.is_empty() || !vectors.len().is_multiple_of(features) {
        return Err(Fault::value(format!(
            "{} numbers make no vectors of {features} features",
            vectors.len()
        )));
    }
    let s = im.floats(DType::F32, &[vectors.len() / features, features], vectors)?;
    let parameters = list(node, "kernel_params")?;
    let [gamma, c, degree] = [0, 1, 2].map(|at| parameters.get(at).copied().unwrap_or(0.0));
    let product = |im: &mut Importer| im.op(&DENSE, &[x, s], Attrs::new());
    let affine = |im: &mut Importer| {
        let product = product(im)?;
        let scaled = im.mul_f(product, gamma)?;
        im.add_f(scaled, c)
    };
    match node.string("kernel_type", "LINEAR")? {
        "LINEAR" => product(im),
        "POLY" => {
            let base = affine(im)?;
            let degree = im.like(base, degree)?;
            im.bin(&ew::POW, base, degree)
        }
        "RBF" => {
            let (rows, vectors) = (im.expand_dims(x, &[1])?, im.expand_dims(s, &[0])?);
            let apart = im.sub(rows, vectors)?;
            let square = im.mul(apart, apart)?;
            let distance = im.sum(square, &[2], false)?;
            let scaled = im.mul_f(distance, -gamma)?;
            im.un(&ew::EXP, scaled)
        }
        "SIGMOID" => {
            let inner = affine(im)?;
            im.un(&ew::TANH, inner)
        }
        _ => Err(Fault::Attribute { name: "kernel_type".into(), expected: "LINEAR, POLY, RBF or SIGMOID" }),
    }
}

fn regressor(im: &mut Importer, node: &Node) -> Converted {
    let x = rows(im, node)?;
    let (vectors, coefficients, rho) =
        (list(node, "support_vectors")?, list(node, "coefficients")?, list(node, "rho")?);
    let y = if node.int("n_supports", 0)? > 0 {
        let kernels = kernel(im, node, x, &vectors)?;
        if im.extent(kernels, 1, "the vectors")? != coefficients.len() as i64 {
            return Err(Fault::value(format!(
                "{} coefficients are given for the vectors",
                coefficients.len()
            )));
        }
        let w = im.floats(DType::F32, &[1, coefficients.len()], &coefficients)?;
        im.op(&DENSE, &[kernels, w], Attrs::new())?
    } else {
        kernel(im, node, x, &coefficients)?
    };
    let mut y = im.add_f(y, rho.first().copied().unwrap_or(0.0))?;
    if node.flag("one_class")? {
        let (none, in_, out) = (im.like(y, 0.0)?, im.like(y, 1.0)?, im.like(y, -1.0)?);
        let above = im.bin(&ew::GREATER, y, none)?;
        y = im.select(above, in_, out)?;
    }
    Ok(vec![transformed(im, y, Transform::read(node)?)?])
}

/// The decision of each pair of classes i < j, `[n, pairs]`.
fn decisions(im: &mut Importer, node: &Node, x: Value, of_class: &[i64]) -> Made {
    let classes = of_class.len();
    let (vectors, coefficients, rho) =
        (list(node, "support_vectors")?, list(node, "coefficients")?, list(node, "rho")?);
    let kernels = kernel(im, node, x, &vectors)?;
    let count = im.extent(kernels, 1, "the vectors")? as usize;
    let pairs = classes * (classes - 1) / 2;
    if coefficients.len() != (classes - 1) * count
        || rho.len() != pairs
        || of_class.iter().sum::<i64>() != count as i64
    {
        return Err(Fault::value(format!(
            "{classes} classes of {count} vectors have {} coefficients and {} numbers rho",
            coefficients.len(),
            rho.len()
        )));
    }
    // What each vector says of each pair: a product with the kernels.
    let mut weights = vec![0.0; pairs * count];
    let begins: Vec<usize> =
        (0..classes).map(|c| of_class[..c].iter().sum::<i64>() as usize).chain([count]).collect();
    let mut pair = 0;
    for i in 0..classes {
        for j in i + 1..classes {
            for s in begins[i]..begins[i + 1] {
                weights[pair * count + s] = coefficients[(j - 1) * count + s];
            }
            for s in begins[j]..begins[j + 1] {
                weights[pair * count + s] = coefficients[i * count + s];
            }
            pair += 1;
        }
    }
    let w = im.floats(DType::F32, &[pairs, count], &weights)?;
    let sums = im.op(&DENSE, &[kernels, w], Attrs::new())?;
    let rho = im.floats(DType::F32, &[pairs], &rho)?;
    im.add(sums, rho)
}

/// How many pairs each class wins, `[n, classes]`.
fn votes(im: &mut Importer, decisions: Value, classes: usize) -> Made {
    let none = im.like(decisions, 0.0)?;
    let first = im.bin(&ew::GREATER, decisions, none)?;
    let first = im.cast(first, DType::F32)?;
    let pairs = classes * (classes - 1) / 2;
    let (mut for_first, mut for_second) = (vec![0.0; classes * pairs], vec![0.0; classes * pairs]);
    let mut pair = 0;
    for i in 0..classes {
        for j in i + 1..classes {
            for_first[i * pairs + pair] = 1.0;
            for_second[j * pairs + pair] = 1.0;
            pair += 1;
        }
    }
    let (a, b) = (
        im.floats(DType::F32, &[classes, pairs], &for_first)?,
        im.floats(DType::F32, &[classes, pairs], &for_second)?,
    );
    let second = im.f_sub(1.0, first)?;
    let (won, lost) = (im.op(&DENSE, &[first, a], Attrs::new())?, im.op(&DENSE, &[second, b], Attrs::new())?);
    im.add(won, lost)
}

fn classifier(im: &mut Importer, node: &Node) -> Converted {
    let labels = Labels::of_classes(node)?;
    let x = rows(im, node)?;
    let transform = Transform::read(node)?;
    let of_class = node.ints("vectors_per_class")?.unwrap_or_default();
    let greatest =
        |im: &mut Importer, y: Value| im.op(&reduction::ARGMAX, &[y], Attrs::new().with("axis", 1i64));
    if of_class.is_empty() {
        let y = kernel(im, node, x, &list(node, "coefficients")?)?;
        let y = im.add_f(y, list(node, "rho")?.first().copied().unwrap_or(0.0))?;
        let chosen = greatest(im, y)?;
        let label = labels.at(im, chosen)?;
        return Ok(vec![label, transformed(im, y, transform)?]);
    }
    if of_class.len() < 2 || of_class.iter().any(|n| *n < 0) || of_class.len() != labels.count() {
        return Err(Fault::value(format!(
            "attribute vectors_per_class is {of_class:?}, for {} labels",
            labels.count()
        )));
    }
    let decided = decisions(im, node, x, of_class)?;
    let won = votes(im, decided, of_class.len())?;
    let chosen = greatest(im, won)?;
    let label = labels.at(im, chosen)?;
    let (a, b) = (list(node, "prob_a")?, list(node, "prob_b")?);
    if let (2, [a], [b]) = (of_class.len(), &a[..], &b[..]) {
        // Platt's probability of the first class, 1 / (1 + exp(a d + b)).
        let scaled = im.mul_f(decided, -a)?;
        let shifted = im.add_f(scaled, -b)?;
        let first = im.un(&ew::SIGMOID, shifted)?;
        let first = im.clip(first, 1e-7, 1.0 - 1e-7)?;
        let second = im.f_sub(1.0, first)?;
        let y = im.concat(&[first, second], 1)?;
        return Ok(vec![label, transformed(im, y, transform)?]);
    }
    if !a.is_empty() {
        return Err(Fault::unsupported("probabilities (prob_a) of more than two classes"));
    }
    let y = match of_class.len() {
        // ONNX Runtime gives the decision the sign of the second class.
        2 => columns(im, decided, transform, false)?,
        _ => transformed(im, decided, transform)?,
    };
    Ok(vec![label, y])
}
