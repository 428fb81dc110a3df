//! What makes, moves, cuts and chooses elements.

pub mod creation;
pub mod grams;
pub mod indexing;
pub mod random;
pub mod resize;
pub mod selection;
pub mod shape;
pub mod slicing;
pub mod spatial;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] = &[
    shape::ROWS,
    slicing::ROWS,
    resize::ROWS,
    spatial::ROWS,
    indexing::ROWS,
    selection::ROWS,
    creation::ROWS,
    random::ROWS,
    grams::ROWS,
];
