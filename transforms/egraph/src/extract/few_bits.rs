//! What a product with a weight of few bits takes beside the plain one.
//!
//!     unpack      two operations a vector of the weight, for each tile of rows; four where weights are made once for all rows
//!     blocks      three for the sum of a block, of each row
//!
//! Vectors of operations that are no multiply-adds begin beside these on most cores. Reading the weight is counted as that of any operand: it is
//! what few bits gain.

use super::rates::Rates;
use fusion_operators::ops::few_bits::is_of_blocks;
use fusion_operators::{Call, Dim};

/// Rows of a tile, whose numbers are unpacked together.
const ROWS: f64 = 4.0;
/// Operations in which a number is unpacked for a sum, and for a weight.
const OF_A_SUM: f64 = 2.0;
const OF_A_WEIGHT: f64 = 4.0;
/// Operations with the sum of a block.
const OF_A_BLOCK: f64 = 3.0;

/// Seconds in which the numbers of a call become factors.
pub fn unpacking(call: &Call, rates: &Rates) -> f64 {
    let product = |dims: &[Dim]| dims.iter().map(|d| d.known().unwrap_or(1) as f64).product::<f64>();
    let depth = call.operands[0].dims.last().and_then(Dim::known).unwrap_or(1) as f64;
    let rows = product(&call.operands[0].dims) / depth;
    let weights = call.operands[1].dims.first().and_then(Dim::known).unwrap_or(1) as f64 * depth;
    let operations = match is_of_blocks(rows as u64) {
        true => weights * OF_A_SUM * (rows / ROWS).ceil() + rows * product(&call.operands[2].dims) * OF_A_BLOCK,
        false => weights * OF_A_WEIGHT,
    };
    operations / rates.operations
}
