//! Parts and powers of two of the inner-product trick, see [`ops::inner_product_trick`](crate::ops::inner_product_trick).

/// Parts of the numbers summed over.
pub const PARTS: u64 = 6;

/// Rows of a right side behind the numbers summed over: its own sums, and what its columns were divided by.
pub const BEHIND: u64 = 2;

/// The rows of a right side for so many numbers summed over: these and zeros up to a multiple of the parts, and what is behind.
pub fn rows(depth: u64) -> u64 {
    depth.next_multiple_of(PARTS) + BEHIND
}

/// What a row or a column is divided by whose largest number is of that size: the greatest power of two that is not above it, of those by
/// which products of all numbers that models have are numbers still. (Of what is infinite, or no number, products are no numbers.)
pub fn power(largest: f64) -> f64 {
    largest.clamp(LEAST, 1.0 / LEAST).log2().floor().exp2()
}

/// The least of those powers of two: 2^-60.
pub const LEAST: f64 = 1.0 / (1u64 << 60) as f64;
