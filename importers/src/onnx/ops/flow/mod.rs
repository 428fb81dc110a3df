//! Branches, loops, and sequences of tensors.

pub mod collect;
pub mod control;
pub mod held;
pub mod repeat;
pub mod scan;
pub mod sequence;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] = &[control::ROWS, scan::ROWS, sequence::ROWS];
