//! The table of kinds for GPUs: one file or folder each, in the order in which the docs list them.

pub mod attention;
pub mod columns;
pub mod contraction;
pub mod elements;
pub mod matrix;
mod one_row;
mod own_rows;
mod rows;
mod transposing;
pub mod windows;

use crate::auto_schedule::kind::{About, Kind};

/// All kinds. Of two that take about as long the first one is taken: those for several nests stand before those for one.
pub const TABLE: &[&dyn Kind] = &[
    &matrix::attention::AttendsByMatrices,
    &attention::Attends,
    &one_row::InOneBlock,
    &matrix::ByMatrices,
    &rows::ByRows,
    &rows::Alone,
    &contraction::Products,
    &columns::group::ColumnsTogether,
    &columns::InColumns,
    &own_rows::OwnRows,
    &windows::InWindows,
    &transposing::Transposing,
    &elements::Elements,
];

/// The kinds in words.
pub fn about() -> impl Iterator<Item = About> {
    TABLE.iter().map(|kind| kind.about())
}
