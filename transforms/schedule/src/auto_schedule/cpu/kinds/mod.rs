//! The table of kinds for processors: one file or folder each, in the order in which the docs list them.

pub mod attention;
mod cells;
pub mod columns;
pub mod contraction;
pub mod inner_product_trick;
mod made_panels;
mod narrow;
mod rows;
mod shared_sums;
mod strassen;
mod strassen_cells;
mod sums_of_blocks;
mod tiling;
mod transposing;
pub mod windows;

use super::super::kind::{About, Kind};

/// All kinds. Of two that take about as long the first one is taken: those for a few nests stand before those for more.
pub const TABLE: &[&dyn Kind] = &[
    &attention::Attends,
    &cells::Cells,
    &strassen::InQuarters,
    &inner_product_trick::ByInnerProducts,
    &strassen_cells::CellsInQuarters,
    &sums_of_blocks::SumsOfBlocks,
    &made_panels::MadePanels,
    &rows::ByRows,
    &windows::InWindows,
    &contraction::InLanes,
    &contraction::Products,
    &shared_sums::SharedSums,
    &narrow::NarrowColumns,
    &columns::Columns,
    &transposing::Transposing,
    &tiling::Tiling,
];

/// The kinds in words.
pub fn about() -> impl Iterator<Item = About> {
    TABLE.iter().map(|kind| kind.about())
}
