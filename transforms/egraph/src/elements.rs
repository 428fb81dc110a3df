//! What all facts about elements need: greatest numbers, and operators that only move elements.

use fusion_operators::dtype::Class;
use fusion_operators::ops::shape::{
    BROADCAST_TO, CONCAT, EXPAND_DIMS, RESHAPE, REVERSE, SLICE, SQUEEZE, TILE, TRANSPOSE,
};
use fusion_operators::{DType, Format, Operator};

/// What gives elements of its operands alone, wherever they go.
pub static REARRANGING: [&Operator; 9] =
    [&RESHAPE, &SQUEEZE, &EXPAND_DIMS, &TRANSPOSE, &BROADCAST_TO, &CONCAT, &SLICE, &TILE, &REVERSE];

/// The greatest finite number of an element type.
pub fn greatest(dtype: DType) -> f64 {
    let bits = 8 * dtype.size() as i32;
    match dtype.class() {
        Class::Float => Format::of(dtype).map_or(f64::MAX, Format::greatest_number),
        Class::Signed => 2f64.powi(bits - 1) - 1.0,
        Class::Unsigned | Class::String => 2f64.powi(bits) - 1.0,
        Class::Bool => 1.0,
    }
}
