//! How each operator carries errors on: one line an operator.
//!
//! `roundings` is how many roundings of its result an operator may make, beside those that its sums make: functions have a few, as
//! libraries and polynomials have.

use super::Bounding;
use super::elementwise::{chosen, compared, lipschitz, logical, monotone, power, product, quotient, widest};
use super::sums::{greatest_of, log_softmax, mean_of, moved, pooled_mean, products, softmax, sum_of};
use crate::reference::EvalError;
use crate::{FusionKind, Operator, Tensor, ops};

/// The error of a result that comes of the errors of the operands and of sums inside; `None` where that is not known.
pub(super) type Carries = fn(&Bounding) -> Result<Option<Tensor>, EvalError>;

/// What is known of an operator.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub carries: Carries,
    pub roundings: f64,
}

macro_rules! rows {
    ($($family:ident: $($op:ident $carries:ident $roundings:literal),*;)*) => {
        &[$($((&ops::$family::$op, Row { carries: $carries, roundings: $roundings })),*),*]
    };
}

static ROWS: &[(&Operator, Row)] = rows! {
    elementwise:
        ABS lipschitz 0.0, NEG lipschitz 0.0, RELU lipschitz 0.0, CLIP lipschitz 1.0,
        FLOOR monotone 0.0, CEIL monotone 0.0, ROUND monotone 0.0,
        EXP monotone 4.0, LOG monotone 4.0, SQRT monotone 1.0, RSQRT monotone 3.0, RECIPROCAL quotient 1.0,
        SINH monotone 8.0, TANH monotone 4.0, ASINH monotone 8.0, ATAN monotone 4.0,
        ERF monotone 4.0, SIGMOID monotone 4.0, SIN lipschitz 4.0, COS lipschitz 4.0,
        ADD sum 1.0, SUB sum 1.0, MUL product 1.0, DIV quotient 1.0, POW power 4.0,
        MINIMUM widest 0.0, MAXIMUM widest 0.0,
        EQUAL compared 0.0, NOT_EQUAL compared 0.0, LESS compared 0.0, LESS_EQUAL compared 0.0,
        GREATER compared 0.0, GREATER_EQUAL compared 0.0,
        LOGICAL_NOT logical 0.0, LOGICAL_AND logical 0.0, LOGICAL_OR logical 0.0, LOGICAL_XOR logical 0.0,
        WHERE chosen 0.0, CAST lipschitz 1.0;
    contraction: MATMUL products 1.0, BATCH_MATMUL products 1.0, DENSE products 1.0;
    convolution:
        CONV1D products 1.0, CONV2D products 1.0, CONV3D products 1.0,
        CONV1D_TRANSPOSE products 1.0, CONV2D_TRANSPOSE products 1.0, CONV3D_TRANSPOSE products 1.0;
    reduction:
        REDUCE_SUM sum_of 1.0, REDUCE_MEAN mean_of 2.0, REDUCE_MAX greatest_of 0.0, REDUCE_MIN greatest_of 0.0;
    normalization: SOFTMAX softmax 6.0, LOG_SOFTMAX log_softmax 6.0;
    pooling:
        AVG_POOL1D pooled_mean 2.0, AVG_POOL2D pooled_mean 2.0, AVG_POOL3D pooled_mean 2.0,
        GLOBAL_AVG_POOL pooled_mean 2.0, MAX_POOL1D pooled_max 0.0, MAX_POOL2D pooled_max 0.0,
        MAX_POOL3D pooled_max 0.0, GLOBAL_MAX_POOL pooled_max 0.0;
};

/// Errors of sums and differences add up.
fn sum(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    call.evaluate(&ops::elementwise::ADD, &[call.operands[0].error.clone(), call.operands[1].error.clone()])
        .map(Some)
}

/// The greatest element is off by no more than the greatest error.
fn pooled_max(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    call.evaluate(call.op, std::slice::from_ref(&call.operands[0].error)).map(Some)
}

/// What is known of an operator; those that move elements carry errors to where the elements go.
pub(super) fn row(op: &'static Operator) -> Option<Row> {
    let listed = ROWS.iter().find(|(listed, _)| listed.is(op)).map(|(_, row)| *row);
    let injective = matches!(op.fusion, FusionKind::Injective) || op.is(&ops::shape::BROADCAST_TO);
    // A resize interpolates.
    let moves = injective && !op.is(&ops::shape::RESIZE);
    listed.or(moves.then_some(Row { carries: moved, roundings: 0.0 }))
}

/// True for operators whose results are bounded.
pub fn is_bounded(op: &'static Operator) -> bool {
    row(op).is_some()
}
