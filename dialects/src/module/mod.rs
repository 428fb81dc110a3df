//! What a module says of itself: its target (`fusion.target`), and what its arithmetic may be taken for (`fusion.fp_math`).
//!
//!     module attributes {fusion.fp_math = "fast", fusion.target = {cores = 2, ...}} { ... }
//!
//! What a pass decides follows from the program alone, so a program carries both.

mod fp_math;
mod target;

pub use fp_math::{FP_MATH, FpMath, Level, MAX_ERROR, STANDARD_ERROR};
pub use target::{TARGET, attach_target, detach_target, target_given, target_of};
