//! Axes of the operators that move elements by computed indices.

use crate::relation::checked_axis;
use crate::{Call, Violation, require};

/// C2: axis (0 when absent) is in range.
pub fn axis(call: &Call) -> Result<usize, Violation> {
    checked_axis(call.attrs.int_or("axis", 0), call.operands[0].rank(), 2)
}

/// The number of leading axes that data and indices share. C2: their extents agree.
pub fn batch_dims(call: &Call) -> Result<usize, Violation> {
    let (data, indices) = (&call.operands[0], &call.operands[1]);
    let asked = call.attrs.int_or("batch_dims", 0);
    let most = data.rank().min(indices.rank().saturating_sub(1));
    let Some(batch) = usize::try_from(asked).ok().filter(|&b| b <= most) else {
        let message = format!("batch_dims is {asked}, expected 0 to {most} for {data} and {indices}");
        return Err(Violation::new(2, message));
    };
    let agree = data.dims[..batch].iter().zip(&indices.dims).all(|(a, b)| a.compatible(b));
    require!(agree, C 2, "the first {batch} extents of {data} and {indices} must agree");
    Ok(batch)
}

/// The new axis in the result. C3: it is in range.
pub fn one_hot_axis(call: &Call) -> Result<usize, Violation> {
    checked_axis(call.attrs.int_or("axis", -1), call.operands[0].rank() + 1, 3)
}
