//! What a product by Strassen's algorithm takes beside the plain one.
//!
//!     2 m k n / peak      =>      7/8 of it  +  sums of the left side's quarters  +  sums of the seven products
//!
//! The sums of both go through the near caches: seven quarters are stored and read again. Between tiles nothing hides that, nor that the left
//! side is read and the result stored, which reads its lines first: in the plain product multiplications do. What the second cache does not hold counts as in memory,
//! since others use the last one: on Zen 4 a product of 4096 x 512 x 128 took 4.5 to 6.2 ms by Strassen's algorithm, as others' work was,
//! and plain 4.6 at all times. Products of 512 x 512 x 512, 1024 x 1024 x 1024 and 128 x 768 x 3072 gain 8 to 10 %.

use super::rates::Rates;
use fusion_operators::ops::strassen::PRODUCTS;
use fusion_operators::{Call, Dim};

/// Quarters of a matrix.
const QUARTERS: f64 = 4.0;
const BYTES: f64 = 4.0;

/// How many times as fast as the plain product of so many rows, numbers summed over and columns one by Strassen's algorithm is.
pub fn gain([m, k, n]: [f64; 3], rates: &Rates) -> f64 {
    let plain = 2.0 * m * k * n / rates.of_contractions();
    let products = PRODUCTS as f64;
    let sums = |bytes: f64| 2.0 * products / QUARTERS * rates.beside(bytes);
    let (left, result) = (BYTES * m * k, BYTES * m * n);
    let moved = sums(left) + sums(result) + rates.apart(left) + 2.0 * rates.apart(result);
    plain / (products / (2.0 * QUARTERS) * plain + moved)
}

/// The same of a call of `relay.matmul_strassen`.
pub fn gain_of(call: &Call, rates: &Rates) -> Option<f64> {
    let extent = |dim: &Dim| dim.known().map(|n| n as f64);
    let ([m, k], [.., width]) = (&call.operands[0].dims[..], &call.operands[1].dims[..]) else { return None };
    Some(gain([extent(m)?, extent(k)?, 2.0 * extent(width)?], rates))
}
