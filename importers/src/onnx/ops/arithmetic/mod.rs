//! Arithmetic on elements, products and sums, also of quantized numbers.

pub mod contraction;
pub mod einsum;
pub mod elementwise;
pub mod integer_products;
pub mod quantization;
pub mod reduction;
pub mod windows;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] = &[
    elementwise::SAME,
    elementwise::ROWS,
    contraction::ROWS,
    einsum::ROWS,
    reduction::ROWS,
    windows::ROWS,
    quantization::ROWS,
];
