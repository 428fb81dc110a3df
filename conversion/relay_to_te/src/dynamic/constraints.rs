//! Constraints of operators' rows where extents are dynamic.

use super::steps::Steps;
use fusion_operators::{Call, Dim, TensorType, Violation};

/// The sentence of a constraint that is violated.
pub fn said(violation: Violation) -> String {
    violation.to_string()
}

/// What the operator's row says.
pub fn row(call: &Call) -> Result<Vec<TensorType>, String> {
    call.op.infer(call.operands, call.attrs).map_err(said)
}

/// An extent that must not exceed another.
pub fn at_most(steps: &mut Steps, small: &Dim, great: &Dim, text: &str) {
    let least = steps.least(small, great);
    steps.equal(small, &least, text);
}
