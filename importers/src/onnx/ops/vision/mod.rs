//! Operators of images and detectors.

mod adaptive;
pub mod decoding;
pub mod regions;
pub mod roi_pool;
pub mod sampling;
pub mod suppression;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] =
    &[suppression::ROWS, regions::ROWS, sampling::ROWS, decoding::ROWS, roi_pool::ROWS];
