//! Operators with a region that combines elements: reductions, windows, scatters, sorts.

pub mod bodies;
pub mod reduction;
pub mod scatter;
pub mod sorting;
pub mod windows;

use super::Row;

pub const FAMILIES: &[&[Row]] = &[reduction::ROWS, scatter::ROWS, sorting::ROWS, windows::ROWS];
