//! Relations of operators that choose, read and write at computed places: what they reach is there.

use super::constraints::{at_most, row, said};
use super::steps::Steps;
use fusion_operators::ops::{indexing, reduction};
use fusion_operators::{Call, Dim, TensorType};

/// The k that are wanted are there.
pub fn topk(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let axis = reduction::topk_axis(call).map_err(said)?;
    let text = "violates constraint C2: k must be at most the extent of the axis";
    at_most(steps, &result[0].dims[axis], &call.operands[0].dims[axis], text);
    Ok(result)
}

/// Boxes, scores and groups are of one batch, and as many.
pub fn non_max_suppression(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let (boxes, scores) = (&call.operands[0].dims, &call.operands[1].dims);
    let groups = call.operands.get(5).map_or(&boxes[..2], |groups| &groups.dims);
    for (own, scores, groups) in [(&boxes[0], &scores[0], &groups[0]), (&boxes[1], &scores[2], &groups[1])] {
        steps.equal(
            own,
            scores,
            "violates constraint C1: boxes and scores must be of one batch, and as many",
        );
        steps.equal(
            own,
            groups,
            "violates constraint C3: boxes and groups must be of one batch, and as many",
        );
    }
    Ok(result)
}

/// As long as the number says, which is an input of the kernel.
pub fn dynamic_iota(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    let why = "takes an extent from a number that is negative, or computed in the same kernel";
    result[0].dims[0] = steps.number(0, "needs a number that is not negative").ok_or(why)?;
    Ok(result)
}

/// Off the axis, no extent exceeds the data's.
fn region(steps: &mut Steps, data: &[Dim], region: &[Dim], axis: usize) {
    let text = "violates constraint C3: off the axis, indices must not exceed the data's extents";
    for (a, (of, within)) in region.iter().zip(data).enumerate() {
        if a != axis {
            at_most(steps, of, within, text);
        }
    }
}

pub fn gather_elements(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    region(steps, &call.operands[0].dims, &call.operands[1].dims, indexing::axis(call).map_err(said)?);
    Ok(result)
}

pub fn gather_nd(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    let (data, indices) = (&call.operands[0].dims, &call.operands[1].dims);
    let batch = indexing::batch_dims(call).map_err(said)?;
    let text = "violates constraint C2: the extents of the batch must agree";
    for (axis, (a, b)) in data.iter().zip(indices).take(batch).enumerate() {
        result[0].dims[axis] = steps.equal(a, b, text);
    }
    Ok(result)
}

pub fn scatter_elements(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let [data, indices, updates] = [0, 1, 2].map(|operand| &call.operands[operand].dims);
    for (a, b) in indices.iter().zip(updates) {
        steps.equal(a, b, "violates constraint C3: indices and updates must have one shape");
    }
    region(steps, data, indices, indexing::axis(call).map_err(said)?);
    Ok(result)
}

pub fn scatter_nd(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let [data, indices, updates] = [0, 1, 2].map(|operand| &call.operands[operand].dims);
    let Some((Some(k), rows)) = indices.split_last().map(|(k, rows)| (k.known(), rows)) else {
        return Err("has indices whose last extent is not known".to_owned());
    };
    let text = "violates constraint C3: updates must have an element for each that the indices name";
    for (a, b) in rows.iter().chain(data.iter().skip(k as usize)).zip(updates) {
        steps.equal(a, b, text);
    }
    Ok(result)
}
