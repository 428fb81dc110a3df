//! How small the elements of a value can be, whatever the inputs are.
//!
//!     x x, exp x, relu x            0 or more
//!     mean (x x) + 0.00001          not below 0.00001, so that its root and its reciprocal are finite
//!     rsqrt of that                 a factor: finite, and 0 or more
//!
//! Elements that are NaN are left out: what is said is said of the others.

use super::elements::REARRANGING;
use fusion_operators::Call;
use fusion_operators::Operator;
use fusion_operators::ops::elementwise::*;
use fusion_operators::ops::normalization::SOFTMAX;
use fusion_operators::ops::reduction::*;

/// The reciprocal of the root of a number from here on is finite, in all element types.
const LEAST_POSITIVE: f64 = 1e-30;
const GREATEST: f64 = 1e30;

/// What is known of elements other than NaN. Facts only come to hold while a graph grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign {
    /// All are 0 or more.
    pub is_nonnegative: bool,
    /// All are [`LEAST_POSITIVE`] or more; infinity is.
    pub is_positive: bool,
    /// All are finite, and 0 or more.
    pub is_factor: bool,
}

impl Sign {
    /// Nothing.
    pub const UNKNOWN: Sign = Sign { is_nonnegative: false, is_positive: false, is_factor: false };
    /// 0 or more.
    pub const NONNEGATIVE: Sign = Sign { is_nonnegative: true, ..Sign::UNKNOWN };
    /// Not near 0.
    pub const POSITIVE: Sign = Sign { is_positive: true, ..Sign::NONNEGATIVE };
    /// Finite and 0 or more.
    pub const FACTOR: Sign = Sign { is_factor: true, ..Sign::NONNEGATIVE };

    /// Of numbers.
    pub fn of(numbers: &[f64]) -> Sign {
        let all = |holds: fn(f64) -> bool| numbers.iter().all(|&v| holds(v));
        Sign {
            is_nonnegative: all(|v| v >= 0.0),
            is_positive: all(|v| v >= LEAST_POSITIVE),
            is_factor: all(|v| (0.0..=GREATEST).contains(&v)),
        }
    }

    /// Of a call, of whose operands that is known, and whether two of them are one value.
    pub fn of_call(call: &Call, known: &[Sign], are_one: bool) -> Sign {
        // Sums and products of integers wrap around, and so does the size of the least one.
        let is_float = call.operands.last().is_some_and(|ty| ty.dtype.is_float());
        if !is_float && [&ADD, &MUL, &REDUCE_SUM, &ABS].iter().any(|operator| call.op.is(operator)) {
            return Sign::UNKNOWN;
        }
        let row = ROWS.iter().find(|row| row.operators.iter().any(|o| call.op.is(o)));
        row.map_or(Sign::UNKNOWN, |row| (row.sign)(known, are_one))
    }

    /// What two forms of one value say together.
    pub fn join(self, other: Sign) -> Sign {
        Sign {
            is_nonnegative: self.is_nonnegative | other.is_nonnegative,
            is_positive: self.is_positive | other.is_positive,
            is_factor: self.is_factor | other.is_factor,
        }
    }

    /// What holds of both.
    fn common(self, other: Sign) -> Sign {
        Sign {
            is_nonnegative: self.is_nonnegative & other.is_nonnegative,
            is_positive: self.is_positive & other.is_positive,
            is_factor: self.is_factor & other.is_factor,
        }
    }
}

/// What operators make of signs.
struct Row {
    operators: &'static [&'static Operator],
    sign: fn(&[Sign], bool) -> Sign,
}

static ROWS: &[Row] = &[
    Row { operators: &[&RELU, &ABS, &EXP], sign: |_, _| Sign::NONNEGATIVE },
    Row { operators: &[&SIGMOID, &SOFTMAX], sign: |_, _| Sign::FACTOR },
    Row { operators: &REARRANGING, sign: common },
    Row { operators: &[&MINIMUM], sign: common },
    // What is summed up on the way may be infinite; the mean of nothing is NaN, and its sum 0.
    Row { operators: &[&REDUCE_MEAN], sign: |known, _| Sign { is_factor: false, ..known[0] } },
    Row {
        operators: &[&REDUCE_SUM],
        sign: |known, _| Sign { is_factor: false, is_positive: false, ..known[0] },
    },
    Row { operators: &[&SQRT], sign: |known, _| Sign { is_nonnegative: true, ..known[0] } },
    Row { operators: &[&ADD], sign: sum },
    Row { operators: &[&MUL], sign: product },
    Row {
        operators: &[&RSQRT],
        sign: |known, _| if known[0].is_positive { Sign::FACTOR } else { Sign::NONNEGATIVE },
    },
];

/// Each element is one of those of the operands.
fn common(known: &[Sign], _: bool) -> Sign {
    known.iter().copied().reduce(Sign::common).unwrap_or_default()
}

fn sum(known: &[Sign], _: bool) -> Sign {
    let (a, b) = (known[0], known[1]);
    let is_nonnegative = a.is_nonnegative && b.is_nonnegative;
    Sign { is_nonnegative, is_positive: is_nonnegative && (a.is_positive || b.is_positive), is_factor: false }
}

fn product(known: &[Sign], is_square: bool) -> Sign {
    let (a, b) = (known[0], known[1]);
    Sign { is_nonnegative: is_square || (a.is_nonnegative && b.is_nonnegative), ..Sign::UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::{Attrs, DType, TensorType};

    #[test]
    fn products_of_integers_wrap_around() {
        let sign = |dtype: DType| {
            let operands = [TensorType::fixed(&[4], dtype), TensorType::fixed(&[4], dtype)];
            let call = Call { op: &MUL, operands: &operands, attrs: &Attrs::new() };
            Sign::of_call(&call, &[Sign::FACTOR; 2], true)
        };
        assert!(sign(DType::F32).is_nonnegative);
        assert_eq!(sign(DType::I32), Sign::UNKNOWN);
    }

    #[test]
    fn numbers_say_themselves_how_small_they_are() {
        assert_eq!(Sign::of(&[0.0, 2.0]), Sign::FACTOR);
        assert_eq!(Sign::of(&[1.0, f64::INFINITY]), Sign::POSITIVE);
        assert_eq!(Sign::of(&[1.0, f64::NAN]), Sign::UNKNOWN);
        assert_eq!(Sign::of(&[-1.0]), Sign::UNKNOWN);
    }
}
