//! Rounding of doubles to half types, once.
//!
//!     f64  --rounded to odd-->  f32  --to nearest, ties to even-->  f16 or bf16
//!
//! Where the f32 is inexact its last bit is 1, so that it lies half between two of the narrow numbers only where the double does (Boldo
//! and Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008). To nearest twice is off
//! where the first step ends half between two; `half` passes over the last 32 bits of a double.

use half::{bf16, f16};

/// To nearest, ties to even.
pub fn to_f16(x: f64) -> f16 {
    f16::from_f32(to_odd(x))
}

/// To nearest, ties to even.
pub fn to_bf16(x: f64) -> bf16 {
    bf16::from_f32(to_odd(x))
}

fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    let bits = near.to_bits();
    if f64::from(near) == x || x.is_nan() || bits & 1 == 1 {
        return near;
    }
    let is_larger = f64::from(near).abs() > x.abs();
    f32::from_bits(if is_larger { bits - 1 } else { bits + 1 })
}

#[cfg(test)]
mod tests {
    use super::{to_bf16, to_f16};

    #[test]
    fn beside_a_tie_the_nearer_number_is_taken() {
        let tiny = 2f64.powi(-40);
        let (step, tie) = (2f64.powi(-7), 1.0 + 2f64.powi(-8));
        assert_eq!([tie - tiny, tie, tie + tiny].map(|x| to_bf16(x).to_f64()), [1.0, 1.0, 1.0 + step]);
        assert_eq!([-tie - tiny, -tie].map(|x| to_bf16(x).to_f64()), [-1.0 - step, -1.0]);
        let (step, tie) = (2f64.powi(-10), 1.0 + 2f64.powi(-11));
        assert_eq!([tie - tiny, tie, tie + tiny].map(|x| to_f16(x).to_f64()), [1.0, 1.0, 1.0 + step]);
    }

    #[test]
    fn the_ends_stay_what_they_are() {
        assert!(to_bf16(f64::NAN).is_nan() && to_f16(f64::NAN).is_nan());
        assert_eq!([1e300, f64::INFINITY].map(|x| to_bf16(x).to_f64()), [f64::INFINITY; 2]);
        assert_eq!([65519.999999, 65520.0].map(|x| to_f16(x).to_f64()), [65504.0, f64::INFINITY]);
        assert_eq!(to_bf16(-1e-300).to_bits(), 0x8000);
        let least = 2f64.powi(-24);
        assert_eq!([least / 2.0, least / 2.0 + 1e-30].map(|x| to_f16(x).to_f64()), [0.0, least]);
    }
}
