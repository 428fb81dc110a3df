//! What programs write of several operations: normalizations and activations, in the forms that exporters give them.

use super::Place;
use super::numbers::{below, one_of};
use super::writer::Writer;
use fusion_operators::ops::{elementwise as e, reduction};
use fusion_operators::{Attrs, Operator};

type Form = fn(&mut Writer, Place) -> Option<Place>;

const FORMS: &[Form] = &[
    layer_norm,
    layer_norm_by_moments,
    root_mean_square_norm,
    softmax,
    log_softmax,
    sigmoid,
    swish,
    gelu,
    softplus,
    affine,
];

/// One of them, of a value of the whole shape.
pub fn form(writer: &mut Writer, x: Place) -> Option<Place> {
    let form = one_of(&mut writer.random, FORMS);
    form(writer, x)
}

/// A reduction along the last axis that keeps it.
fn along(writer: &mut Writer, op: &'static Operator, x: Place) -> Option<Place> {
    writer.graph.call(op, Attrs::new().with("axes", [-1]).with("keepdims", true), &[x])
}

/// `x rsqrt(variance + epsilon)`, or by a division, as often; `epsilon` is a constant of the graph at times.
fn by_root(writer: &mut Writer, x: Place, variance: Place) -> Option<Place> {
    let epsilon = match below(&mut writer.random, 2) {
        0 => writer.constant()?,
        _ => writer.number(1e-3)?,
    };
    let shifted = writer.call(&e::ADD, &[variance, epsilon])?;
    match below(&mut writer.random, 2) {
        0 => {
            let inverse = writer.call(&e::RSQRT, &[shifted])?;
            writer.call(&e::MUL, &[x, inverse])
        }
        _ => {
            let root = writer.call(&e::SQRT, &[shifted])?;
            writer.call(&e::DIV, &[x, root])
        }
    }
}

fn layer_norm(writer: &mut Writer, x: Place) -> Option<Place> {
    let mean = along(writer, &reduction::REDUCE_MEAN, x)?;
    let centred = writer.call(&e::SUB, &[x, mean])?;
    let square = writer.call(&e::MUL, &[centred, centred])?;
    let variance = along(writer, &reduction::REDUCE_MEAN, square)?;
    by_root(writer, centred, variance)
}

fn layer_norm_by_moments(writer: &mut Writer, x: Place) -> Option<Place> {
    let mean = along(writer, &reduction::REDUCE_MEAN, x)?;
    let square = writer.call(&e::MUL, &[x, x])?;
    let mean_of_square = along(writer, &reduction::REDUCE_MEAN, square)?;
    let square_of_mean = writer.call(&e::MUL, &[mean, mean])?;
    let variance = writer.call(&e::SUB, &[mean_of_square, square_of_mean])?;
    let centred = writer.call(&e::SUB, &[x, mean])?;
    by_root(writer, centred, variance)
}

fn root_mean_square_norm(writer: &mut Writer, x: Place) -> Option<Place> {
    let square = writer.call(&e::MUL, &[x, x])?;
    let mean = along(writer, &reduction::REDUCE_MEAN, square)?;
    by_root(writer, x, mean)
}

/// With or without the greatest element taken away.
fn exponentials(writer: &mut Writer, x: Place) -> Option<(Place, Place)> {
    let shifted = match below(&mut writer.random, 2) {
        0 => x,
        _ => {
            let greatest = along(writer, &reduction::REDUCE_MAX, x)?;
            writer.call(&e::SUB, &[x, greatest])?
        }
    };
    let exponential = writer.call(&e::EXP, &[shifted])?;
    Some((shifted, exponential))
}

fn softmax(writer: &mut Writer, x: Place) -> Option<Place> {
    let (_, exponential) = exponentials(writer, x)?;
    let sum = along(writer, &reduction::REDUCE_SUM, exponential)?;
    writer.call(&e::DIV, &[exponential, sum])
}

fn log_softmax(writer: &mut Writer, x: Place) -> Option<Place> {
    let (shifted, exponential) = exponentials(writer, x)?;
    let sum = along(writer, &reduction::REDUCE_SUM, exponential)?;
    let logarithm = writer.call(&e::LOG, &[sum])?;
    writer.call(&e::SUB, &[shifted, logarithm])
}

/// `1 / (1 + exp -x)`, or `(tanh(x / 2) + 1) / 2`
fn sigmoid(writer: &mut Writer, x: Place) -> Option<Place> {
    let (one, half) = (writer.number(1.0)?, writer.number(0.5)?);
    match below(&mut writer.random, 2) {
        0 => {
            let negative = writer.call(&e::NEG, &[x])?;
            let exponential = writer.call(&e::EXP, &[negative])?;
            let sum = writer.call(&e::ADD, &[one, exponential])?;
            writer.call(&e::DIV, &[one, sum])
        }
        _ => {
            let scaled = writer.call(&e::MUL, &[x, half])?;
            let tanh = writer.call(&e::TANH, &[scaled])?;
            let shifted = writer.call(&e::ADD, &[tanh, one])?;
            writer.call(&e::MUL, &[shifted, half])
        }
    }
}

fn swish(writer: &mut Writer, x: Place) -> Option<Place> {
    let sigmoid = sigmoid(writer, x)?;
    writer.call(&e::MUL, &[x, sigmoid])
}

/// `x (1 + erf(x / sqrt 2)) / 2`
fn gelu(writer: &mut Writer, x: Place) -> Option<Place> {
    let (root, one, half) =
        (writer.number(std::f64::consts::SQRT_2)?, writer.number(1.0)?, writer.number(0.5)?);
    let scaled = writer.call(&e::DIV, &[x, root])?;
    let erf = writer.call(&e::ERF, &[scaled])?;
    let shifted = writer.call(&e::ADD, &[erf, one])?;
    let product = writer.call(&e::MUL, &[x, shifted])?;
    writer.call(&e::MUL, &[product, half])
}

/// `log(1 + exp x)`
fn softplus(writer: &mut Writer, x: Place) -> Option<Place> {
    let one = writer.number(1.0)?;
    let exponential = writer.call(&e::EXP, &[x])?;
    let sum = writer.call(&e::ADD, &[exponential, one])?;
    writer.call(&e::LOG, &[sum])
}

/// `(x - a) / b * b + a` with constants of the graph, as quantization has it.
fn affine(writer: &mut Writer, x: Place) -> Option<Place> {
    let (zero, scale) = (writer.constant()?, writer.constant()?);
    let shifted = writer.call(&e::SUB, &[x, zero])?;
    let scaled = writer.call(&e::DIV, &[shifted, scale])?;
    let back = writer.call(&e::MUL, &[scaled, scale])?;
    writer.call(&e::ADD, &[back, zero])
}
