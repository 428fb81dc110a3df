//! The tile of a product by the inner-product trick: rows by vectors of columns, whose sums are in registers.
//!
//!     of six numbers:   4 multiply-adds and 4 additions a vector of a row       6 loads a row, and 6 a vector of columns
//!
//! In tiles of one vector each number of a row is used once, and additions take it from memory: no register or instruction is spent on it. A
//! core that begins two multiply-adds and two additions in a cycle loads no more than two vectors in it, so that such a tile waits for what
//! it loads; one of two vectors uses each number twice. (14 rows of one vector reach 1.45 times the peak of multiply-adds on Zen 4, where one
//! begins in a cycle, and 0.93 on Zen 5; 9 rows of two 1.43 there.)

use super::BYTES;
use fusion_machine::Machine;

/// A tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows.
    pub rows: u64,
    /// Vectors of columns.
    pub vectors: u64,
}

/// Registers that are no sums, in tiles of one vector and of two: what is made of a pair on its way, and of two the pair of either side.
const BESIDE: [u64; 2] = [18, 14];

/// Numbers of a step that are multiplied in pairs and as they are: loads of each row and vector.
const NUMBERS: f64 = 6.0;
/// Multiplications of a step, and additions beside them.
const PRODUCTS: f64 = 4.0;

impl Tile {
    /// That with which products of so many rows and columns take least.
    pub fn of(extents: [u64; 2], machine: &Machine) -> Tile {
        let with = |(beside, vectors): (&u64, u64)| {
            let most = machine.registers.saturating_sub(*beside) / vectors;
            (1..=most.max(1).min(extents[0].max(1))).rev().map(move |rows| Tile { rows, vectors })
        };
        let all = BESIDE.iter().zip(1..).flat_map(with);
        let least =
            all.map(|tile| (tile, tile.cycles(extents, machine))).min_by(|(_, a), (_, b)| a.total_cmp(b));
        let (tile, _) = least.unwrap_or((Tile { rows: 1, vectors: 1 }, 0.0));
        // As many tiles of as even heights: one of two rows would wait for its own sums.
        Tile { rows: extents[0].div_ceil(extents[0].div_ceil(tile.rows).max(1)).max(1), ..tile }
    }

    /// Columns.
    pub fn columns(&self, machine: &Machine) -> u64 {
        self.vectors * machine.lanes(BYTES)
    }

    /// Cycles of six numbers summed over, of all tiles of so many rows and columns. A tile has those of one more row for itself.
    pub fn cycles(&self, [rows, columns]: [u64; 2], machine: &Machine) -> f64 {
        let (across, along) =
            (rows.div_ceil(self.rows) as f64, columns.div_ceil(self.columns(machine)) as f64);
        let (rows, vectors) = (rows as f64, self.vectors as f64);
        let [products, loads] = [machine.multiply_adds, machine.loads].map(|n| n.max(1) as f64);
        let busy = PRODUCTS * rows * vectors / products;
        let loaded = NUMBERS * (rows + across * vectors) / loads;
        along * (busy.max(loaded) + across * PRODUCTS * vectors / products)
    }
}
