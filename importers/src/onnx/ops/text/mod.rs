//! What makes strings, or looks into them.

pub mod strings;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] = &[strings::ROWS];
