//! The floating-point formats of element types (IEEE 754-2019, table 3.5; bfloat16 has the exponents of f32).

use crate::DType;

/// A floating-point format: bits of the significand with the leading one, and the exponents of its smallest and greatest normal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the significand.
    pub precision: u64,
    /// The exponent of the smallest normal number.
    pub least: i64,
    /// The exponent of the greatest numbers.
    pub greatest: i64,
}

impl Format {
    /// Of an element type; `None` for integers.
    pub fn of(dtype: DType) -> Option<Format> {
        let (precision, greatest) = match dtype {
            DType::F64 => (53, 1023),
            DType::F32 => (24, 127),
            DType::BF16 => (8, 127),
            DType::F16 => (11, 15),
            _ => return None,
        };
        Some(Format { precision, least: 1 - greatest, greatest })
    }

    /// Half the distance from 1 to the next number: the greatest relative error of a rounding.
    pub fn unit_roundoff(self) -> f64 {
        2f64.powi(-(self.precision as i32))
    }

    /// The smallest normal number.
    pub fn least_normal(self) -> f64 {
        2f64.powi(self.least as i32)
    }

    /// The least positive number, which is not normal.
    pub fn least_positive(self) -> f64 {
        self.least_normal() * 2f64.powi(1 - self.precision as i32)
    }

    /// The distance from a number to the next one further from 0: the unit in its last place.
    pub fn unit_at(self, x: f64) -> f64 {
        // An exponent from the bits: a logarithm would round up just below a power of two.
        let exponent = ((x.abs().to_bits() >> 52) as i64 - 1023).clamp(self.least, self.greatest);
        2f64.powi((exponent + 1 - self.precision as i64) as i32)
    }

    /// The greatest finite number.
    pub fn greatest_number(self) -> f64 {
        (2.0 - 2f64.powi(1 - self.precision as i32)) * 2f64.powi(self.greatest as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_types() {
        let of = |dtype| {
            let format = Format::of(dtype).expect("a float");
            [format.least_positive(), format.least_normal(), format.greatest_number()]
        };
        assert_eq!(of(DType::F64), [f64::from_bits(1), f64::MIN_POSITIVE, f64::MAX]);
        assert_eq!(of(DType::F32), [f32::from_bits(1), f32::MIN_POSITIVE, f32::MAX].map(f64::from));
        let halves = [half::f16::from_bits(1), half::f16::MIN_POSITIVE, half::f16::MAX];
        assert_eq!(of(DType::F16), halves.map(f64::from));
        let brains = [half::bf16::from_bits(1), half::bf16::MIN_POSITIVE, half::bf16::MAX];
        assert_eq!(of(DType::BF16), brains.map(f64::from));
        let next = |x: f32| f64::from(f32::from_bits(x.to_bits() + 1)) - f64::from(x);
        for x in [0.0, 1e-40, 0.999_999_9, 1.0, 3.0, 1e30] {
            assert_eq!(Format::of(DType::F32).map(|format| format.unit_at(x.into())), Some(next(x)), "{x}");
        }
        assert!(DType::ALL.into_iter().all(|dtype| Format::of(dtype).is_some() == dtype.is_float()));
    }
}
