//! Losses of classifiers.
//!
//!     nn.cross_entropy(%x, %y)      - sum of log(x) y / batch
//!     nn.nll_loss(%p, %t, %w)       - p at class t, weighted by w at t

use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.cross_entropy", 2, &[], |call| cross_entropy(call, true)),
    built("nn.cross_entropy_with_logits", 2, &[], |call| cross_entropy(call, false)),
    built("nn.nll_loss", 3, &["reduction", "ignore_index"], nll_loss),
];

/// Of probabilities, or (with logits) of their logarithms.
fn cross_entropy<'c>(call: &mut Call<'_, 'c, '_>, probabilities: bool) -> Outcome<Made<'c>> {
    let (mut x, y) = (call.operand(0), call.operand(1));
    let shape = fixed(call, x)?;
    let &[batch, _] = shape.as_slice() else {
        return call.fault("takes a batch of rows, one number a class");
    };
    if probabilities {
        x = call.plain(&ew::LOG, &[x])?;
    }
    let products = call.mul(x, y)?;
    let sum = call.summed(products, &[0, 1])?;
    call.times(sum, -1.0 / batch as f64).map(Made::Value)
}

fn nll_loss<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, targets, weights) = (call.operand(0), call.operand(1), call.operand(2));
    let ignored = call.int("ignore_index", -100)?;
    let reduction = call.text("reduction", "mean")?.to_owned();
    let (rank, shape) = (call.rank(x)?, fixed(call, targets)?);
    let targets = call.cast(targets, DType::I64)?;
    let skipped = call.like(targets, ignored as f64)?;
    let counts = call.plain(&ew::NOT_EQUAL, &[targets, skipped])?;
    // What is not counted is read at class 0, and weighs nothing.
    let first = call.like(targets, 0.0)?;
    let places = call.select(counts, targets, first)?;
    let weight = call.gathered(weights, places, 0)?;
    let zero = call.like(weight, 0.0)?;
    let weight = call.select(counts, weight, zero)?;
    let loss = if rank < 2 {
        // One row without a batch.
        call.gathered(x, places, 0)?
    } else {
        let along = call.expanded(places, &[1])?;
        let picked = call.gathered_elements(x, along, 1)?;
        call.reshaped(picked, &shape)?
    };
    let loss = call.mul(loss, weight)?;
    let loss = call.times(loss, -1.0)?;
    let axes: Vec<i64> = (0..shape.len() as i64).collect();
    match reduction.as_str() {
        "none" => Ok(Made::Value(loss)),
        "sum" => call.summed(loss, &axes).map(Made::Value),
        "mean" => {
            let sum = call.summed(loss, &axes)?;
            let all = call.summed(weight, &axes)?;
            call.div(sum, all).map(Made::Value)
        }
        other => call.fault(format!("reduction {other:?} is not known; none, mean and sum are")),
    }
}
