//! Batch normalisation: for inference, for training, and its gradient.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, reduction as red};

pub const ROWS: &[Row] = &[
    row("stablehlo.batch_norm_inference", inference),
    row("stablehlo.batch_norm_training", training),
    row("stablehlo.batch_norm_grad", gradient),
];

struct Features {
    axis: usize,
    shape: Vec<usize>,
    others: Vec<usize>,
    epsilon: f64,
}

impl Features {
    fn read<'c>(e: &Emitter<'c, '_>, op: &Operation, x: Value<'c>) -> Outcome<Features> {
        let shape = e.shape(x)?;
        let axis = op.axis("feature_index", shape.len())?;
        let others = (0..shape.len()).filter(|&a| a != axis).collect();
        Ok(Features { axis, shape, others, epsilon: op.float("epsilon")? })
    }

    /// One number for each feature, along their axis.
    fn along<'c>(&self, e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
        let shape: Vec<usize> =
            (0..self.shape.len()).map(|a| if a == self.axis { self.shape[a] } else { 1 }).collect();
        e.reshape(x, &shape)
    }

    fn mean<'c>(&self, e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
        e.reduce(&red::REDUCE_MEAN, x, &self.others)
    }

    /// x minus a number for each feature.
    fn centred<'c>(&self, e: &mut Emitter<'c, '_>, x: Value<'c>, mean: Value<'c>) -> Outcome<Value<'c>> {
        let mean = self.along(e, mean)?;
        e.sub(x, mean)
    }

    fn inverse<'c>(&self, e: &mut Emitter<'c, '_>, variance: Value<'c>) -> Outcome<Value<'c>> {
        let sum = e.add_f(variance, self.epsilon)?;
        e.un(&ew::RSQRT, sum)
    }
}

fn normalised<'c>(
    e: &mut Emitter<'c, '_>,
    f: &Features,
    [x, scale, offset, mean, variance]: [Value<'c>; 5],
) -> Outcome<Value<'c>> {
    let centred = f.centred(e, x, mean)?;
    let deviation = f.inverse(e, variance)?;
    let factor = e.mul(deviation, scale)?;
    let (factor, offset) = (f.along(e, factor)?, f.along(e, offset)?);
    let scaled = e.mul(centred, factor)?;
    e.add(scaled, offset)
}

fn all<'c, const N: usize>(e: &Emitter<'c, '_>, op: &Operation, x: &[Held<'c>]) -> Outcome<[Value<'c>; N]> {
    let values: Vec<Value> = (0..N).map(|i| e.tensor(op, x, i)).collect::<Outcome<_>>()?;
    values.try_into().or_else(|_| op.fault("it has too few operands"))
}

fn inference<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let values: [Value; 5] = all(e, op, x)?;
    let features = Features::read(e, op, values[0])?;
    Ok(vec![Held::Tensor(normalised(e, &features, values)?)])
}

fn training<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let [x, scale, offset] = all(e, op, x)?;
    let f = Features::read(e, op, x)?;
    let mean = f.mean(e, x)?;
    let centred = f.centred(e, x, mean)?;
    let squares = e.mul(centred, centred)?;
    let variance = f.mean(e, squares)?;
    let result = normalised(e, &f, [x, scale, offset, mean, variance])?;
    Ok([result, mean, variance].map(Held::Tensor).to_vec())
}

/// dx = scale / deviation * (dy - mean(dy) - x' mean(dy x')), with x' = (x - mean) / deviation.
fn gradient<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let [x, scale, mean, variance, dy] = all(e, op, x)?;
    let f = Features::read(e, op, x)?;
    let inverse = f.inverse(e, variance)?;
    let (centred, along) = (f.centred(e, x, mean)?, f.along(e, inverse)?);
    let unit = e.mul(centred, along)?;
    let product = e.mul(dy, unit)?;
    let (sum, weighted) =
        (e.reduce(&red::REDUCE_SUM, dy, &f.others)?, e.reduce(&red::REDUCE_SUM, product, &f.others)?);
    let (mean_dy, mean_product) = (f.mean(e, dy)?, f.mean(e, product)?);
    let (mean_dy, mean_product) = (f.along(e, mean_dy)?, f.along(e, mean_product)?);
    let (rest, slope) = (e.sub(dy, mean_dy)?, e.mul(unit, mean_product)?);
    let rest = e.sub(rest, slope)?;
    let factor = e.mul(scale, inverse)?;
    let factor = f.along(e, factor)?;
    let dx = e.mul(rest, factor)?;
    Ok([dx, weighted, sum].map(Held::Tensor).to_vec())
}
