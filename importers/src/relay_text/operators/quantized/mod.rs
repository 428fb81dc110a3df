//! Operators of quantized tensors: an integer q stands for scale (q - zero point).
//!
//! ```text
//!   sums of products    exact, in int32
//!   new scales          in float64, which holds any int32: (q - z) s / s' + z', rounded and cut to the element type
//!   functions           in float32: what the integers stand for, the function, and back
//! ```
//! TVM multiplies by a scale in fixed point with 31 bits; results differ from that only where a number lies within 2^-31 of
//! half between two integers. Scales and zero points may be operands that are not known.

mod pointwise;
mod products;
pub mod rounding;

use super::Built;

pub const BUILT: &[&[Built]] = &[pointwise::BUILT, products::BUILT];
