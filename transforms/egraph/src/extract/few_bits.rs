//! What a product with a weight of few bits takes beside the plain one.
//!
//!     multiply   m for a vector of the weight            m rows
//!     unpack     2, for each tile of rows                of few rows, beside the multiply-adds
//!                4                                       of many, before them
//!     blocks     3 for the sum of a block, of each row
//!
//! Operations that are no multiply-adds begin beside these on some cores: on Zen 4 a product of 8 rows takes no longer than with a weight of f32 that
//! is near. Reading the weight is counted as that of any operand: it is what few bits gain where rows are few.

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
/// The share of a product's time that it is worth to have an eighth to a fourth of the bytes in a library, and in memory.
const WORTH: f64 = 0.04;

/// Seconds of a call's arithmetic, where the plain product takes so many.
pub fn seconds(call: &Call, plain: f64, rates: &Rates) -> f64 {
    let Some(core) = rates.core else { return f64::INFINITY };
    let product = |dims: &[Dim]| dims.iter().map(|d| d.known().unwrap_or(1) as f64).product::<f64>();
    let depth = call.operands[0].dims.last().and_then(Dim::known).unwrap_or(1) as f64;
    let rows = (product(&call.operands[0].dims) / depth).max(1.0);
    let blocks = product(&call.operands[2].dims[1..]);
    let sums = core.multiply_adds as f64;
    let begin = (core.multiply_adds + core.additions) as f64;
    // Of a vector of the weight: cycles of the plain product, and of this one.
    let multiplied = rows / sums;
    let taken = match is_of_blocks(rows as u64) {
        true => {
            let unpacked = OF_A_SUM * (rows / ROWS).ceil() + OF_A_BLOCK * rows * blocks / depth;
            multiplied.max((rows + unpacked) / begin)
        }
        false => multiplied + OF_A_WEIGHT / begin,
    };
    plain * taken / multiplied * (1.0 - WORTH)
}
