//! Exact numbers: an integer times a power of two.
//!
//!     0.1 in f32 = 13421773 2^-27            0.1 0.1 = 180143990463529 2^-54
//!
//! Every finite float is one, and so are sums and products of them. Constants that rules make are kept like this and rounded once, to nearest,
//! halves to even, when they are extracted: no order in which rules multiply constants makes another number of them. (Muller et al., "Handbook
//! of Floating-Point Arithmetic", 2018, chapter 2.)

use fusion_operators::{DType, Format};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The most bits of an integer: products of more constants than that are not made.
const MOST_BITS: u64 = 1024;

/// An integer, odd or 0, times a power of two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dyadic {
    integer: BigInt,
    exponent: i64,
}

impl Dyadic {
    /// Of a finite number.
    pub fn of(number: f64) -> Option<Dyadic> {
        if !number.is_finite() {
            return None;
        }
        let bits = number.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let (integer, exponent) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, exponent - 1075),
        };
        let integer = BigInt::from(integer);
        Some(Dyadic::new(if number < 0.0 { -integer } else { integer }, exponent))
    }

    fn new(integer: BigInt, exponent: i64) -> Dyadic {
        match integer.trailing_zeros() {
            None => Dyadic { integer: BigInt::zero(), exponent: 0 },
            Some(zeros) => Dyadic { integer: integer >> zeros, exponent: exponent + zeros as i64 },
        }
    }

    /// The sum; `None` where it needs too many bits.
    pub fn plus(&self, other: &Dyadic) -> Option<Dyadic> {
        let exponent = match (self.is_zero(), other.is_zero()) {
            (true, _) => return Some(other.clone()),
            (_, true) => return Some(self.clone()),
            _ => self.exponent.min(other.exponent),
        };
        let shifted = |number: &Dyadic| {
            let shift = u64::try_from(number.exponent - exponent).ok().filter(|shift| *shift <= MOST_BITS)?;
            Some(&number.integer << shift)
        };
        Dyadic::new(shifted(self)? + shifted(other)?, exponent).bounded()
    }

    /// The product; `None` where it needs too many bits.
    pub fn times(&self, other: &Dyadic) -> Option<Dyadic> {
        Dyadic::new(&self.integer * &other.integer, self.exponent + other.exponent).bounded()
    }

    /// The number with the other sign.
    pub fn negated(&self) -> Dyadic {
        Dyadic { integer: -&self.integer, exponent: self.exponent }
    }

    /// The reciprocal of a power of two; `None` of other numbers.
    pub fn reciprocal(&self) -> Option<Dyadic> {
        self.is_power_of_two().then(|| Dyadic { integer: self.integer.clone(), exponent: -self.exponent })
    }

    /// True for 0.
    pub fn is_zero(&self) -> bool {
        self.integer.is_zero()
    }

    /// True for powers of two, of either sign.
    pub fn is_power_of_two(&self) -> bool {
        self.integer.abs().is_one()
    }

    /// Rounded to a format. `None` where that is no normal number, other than 0: where it overflows, or would lose digits or all of it.
    pub fn rounded(&self, format: Format) -> Option<f64> {
        if self.is_zero() {
            return Some(0.0);
        }
        let excess = self.integer.bits().saturating_sub(format.precision);
        let mut kept = self.integer.abs();
        if excess > 0 {
            let half = BigInt::one() << (excess - 1);
            let rest = &kept - ((&kept >> excess) << excess);
            kept >>= excess;
            if rest > half || rest == half && kept.bit(0) {
                kept += 1;
            }
        }
        let exponent = self.exponent + excess as i64;
        let leading = exponent + kept.bits() as i64 - 1;
        if !(format.least..=format.greatest).contains(&leading) {
            return None;
        }
        // No more than 53 bits, or a power of two: this is exact. Two steps, as 2^exponent alone may be too small for f64.
        let half = (exponent / 2) as i32;
        let magnitude = kept.to_f64()? * 2f64.powi(half) * 2f64.powi(exponent as i32 - half);
        Some(if self.integer.is_negative() { -magnitude } else { magnitude })
    }

    /// The nearest number of f64, of numbers that it holds as normal ones; else NaN.
    pub fn nearest(&self) -> f64 {
        Format::of(DType::F64).and_then(|format| self.rounded(format)).unwrap_or(f64::NAN)
    }

    fn bounded(self) -> Option<Dyadic> {
        (self.integer.bits() <= MOST_BITS && self.exponent.abs() < 1 << 20).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(dtype: DType) -> Format {
        Format::of(dtype).expect("a float")
    }

    #[test]
    fn sums_and_products_are_exact() {
        let tenth = Dyadic::of(0.1).expect("finite");
        let [sum, product] = [tenth.plus(&tenth), tenth.times(&tenth)].map(Option::unwrap);
        assert_eq!(sum, Dyadic::of(0.2).expect("finite"));
        assert_eq!(product.plus(&product.negated()), Dyadic::of(0.0));
        // 0.1 0.1 in f64 is another number than the exact product, which rounds to it.
        assert_ne!(Some(product.clone()), Dyadic::of(0.1 * 0.1));
        assert_eq!(product.rounded(format(DType::F64)), Some(0.1 * 0.1));
    }

    #[test]
    fn a_rounding_is_to_nearest_and_of_halves_to_even() {
        let of = |number: f64| Dyadic::of(number).expect("finite").rounded(format(DType::F16));
        assert_eq!(of(2049.0), Some(2048.0));
        assert_eq!(of(2051.0), Some(2052.0));
        assert_eq!(of(-2049.0 - 1e-9), Some(-2050.0));
        assert_eq!(of(1.0 / 3.0), Some(0.333251953125));
        assert_eq!(of(0.0), Some(0.0));
    }

    #[test]
    fn what_is_not_normal_has_no_rounding() {
        let of = |number: f64, dtype| Dyadic::of(number).expect("finite").rounded(format(dtype));
        assert_eq!(of(65519.0, DType::F16), Some(65504.0));
        assert_eq!(of(65520.0, DType::F16), None);
        assert_eq!(of(2f64.powi(-14), DType::F16), Some(2f64.powi(-14)));
        assert_eq!(of(2f64.powi(-15), DType::F16), None);
        assert_eq!(of(2f64.powi(-127), DType::F32), None);
        let tiny = Dyadic::of(2f64.powi(-1000)).expect("finite");
        assert_eq!(tiny.times(&tiny).expect("few bits").rounded(format(DType::F64)), None);
    }

    #[test]
    fn only_powers_of_two_have_exact_reciprocals() {
        let of = |number: f64| Dyadic::of(number).expect("finite").reciprocal();
        assert_eq!(of(0.125), Dyadic::of(8.0));
        assert_eq!(of(-4.0), Dyadic::of(-0.25));
        assert_eq!(of(3.0), None);
        assert_eq!(of(0.0), None);
        assert!(Dyadic::of(f64::NAN).is_none() && Dyadic::of(f64::INFINITY).is_none());
    }

    #[test]
    fn numbers_of_f64_come_back() {
        for number in [1.0, -0.1, 5e-324, f64::MAX, 1e-310, 12345.678] {
            let dyadic = Dyadic::of(number).expect("finite");
            if number.is_normal() {
                assert_eq!(dyadic.rounded(format(DType::F64)), Some(number));
            } else {
                assert_eq!(dyadic.rounded(format(DType::F64)), None);
            }
        }
    }
}
