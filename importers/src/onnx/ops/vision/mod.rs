//! Operators of images and detectors.

pub mod regions;
pub mod sampling;
pub mod suppression;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] = &[suppression::ROWS, regions::ROWS, sampling::ROWS];
