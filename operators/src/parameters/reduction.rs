//! Axes of the operators that combine many elements into one.

use crate::relation::{axes_or_all, checked_axis};
use crate::{Call, Violation};

/// The axes reduced. C1: they are in range and named once.
pub fn reduced_axes(call: &Call) -> Result<Vec<usize>, Violation> {
    axes_or_all(call, call.operands[0].rank(), 1)
}

/// The axis of arg reductions and scans, 0 when absent. C1: it is in range.
pub fn axis(call: &Call) -> Result<usize, Violation> {
    checked_axis(call.attrs.int_or("axis", 0), call.operands[0].rank(), 1)
}

/// The axis of topk, the last when absent. C1: it is in range.
pub fn topk_axis(call: &Call) -> Result<usize, Violation> {
    checked_axis(call.attrs.int_or("axis", -1), call.operands[0].rank(), 1)
}
