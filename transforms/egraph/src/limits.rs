//! How large the elements of a value can be, whatever the inputs are: which powers of two lie above and below them.
//!
//!     tanh x, sigmoid x, softmax x       not above 1
//!     -exp x, -(x x), -|x|               not above 0
//!     min(x, 40), where m ? y : -inf     not above 64, not above y
//!     x, log x, a sum that may overflow  anything: infinity as well
//!
//! A *level* is one of few, so that facts which forms of a value teach each other come to an end:
//!
//!     0: not above 0      1 + k: not above 2^k      ANY: maybe infinity
//!
//! Elements that are NaN are left out: what is said is said of the others.

use super::elements::{REARRANGING, greatest};
use fusion_operators::ops::elementwise::*;
use fusion_operators::ops::indexing::GATHER;
use fusion_operators::ops::normalization::{LOG_SOFTMAX, SOFTMAX};
use fusion_operators::{Call, DType, Operator, TensorType};

const ANY: u16 = u16::MAX;

/// What is known of elements other than NaN. Levels only fall while a graph grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The level of the elements.
    above: u16,
    /// The level of their negatives.
    below: u16,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { above: ANY, below: ANY }
    }
}

impl Limits {
    /// True when no element is infinity; some may be its negative.
    pub fn are_below_infinity(self) -> bool {
        self.above != ANY
    }

    /// Of numbers.
    pub fn of(numbers: &[f64]) -> Limits {
        let greatest = |sign: f64| numbers.iter().fold(0f64, |most, &v| most.max(sign * v));
        Limits { above: level(greatest(1.0)), below: level(greatest(-1.0)) }
    }

    /// Of a call, of whose operands that is known, and whether two of them are one value.
    pub fn of_call(call: &Call, result: &TensorType, known: &[Limits], are_one: bool) -> Limits {
        let of_type = Limits::of_type(result.dtype);
        let row = ROWS.iter().find(|row| row.operators.iter().any(|o| call.op.is(o)));
        // Sums and products of integers wrap around; a level beyond the type is one that overflows.
        match row.filter(|_| result.dtype.is_float()) {
            Some(row) => (row.limits)(call, known, are_one).within(result.dtype),
            None => of_type,
        }
    }

    /// What two forms of one value say together.
    pub fn join(self, other: Limits) -> Limits {
        Limits { above: self.above.min(other.above), below: self.below.min(other.below) }
    }

    fn of_type(dtype: DType) -> Limits {
        match dtype.is_float() {
            true => Limits::default(),
            false => Limits { above: level(greatest(dtype)), below: level(greatest(dtype) + 1.0) },
        }
    }

    /// What holds of the elements of both.
    fn common(self, other: Limits) -> Limits {
        Limits { above: self.above.max(other.above), below: self.below.max(other.below) }
    }

    fn negative(self) -> Limits {
        Limits { above: self.below, below: self.above }
    }

    /// Elements that a type may round to infinity are anything.
    fn within(self, dtype: DType) -> Limits {
        let most = level(greatest(dtype) / 2.0);
        let fit = |level: u16| if level > most { ANY } else { level };
        Limits { above: fit(self.above), below: fit(self.below) }
    }
}

/// The level of a number.
fn level(number: f64) -> u16 {
    match number {
        v if v <= 0.0 => 0,
        v if v.is_finite() => 1 + v.log2().ceil().max(0.0) as u16,
        _ => ANY,
    }
}

/// Of a sum.
fn sum(a: u16, b: u16) -> u16 {
    match (a.min(b), a.max(b)) {
        (0, larger) => larger,
        (_, ANY) => ANY,
        (_, larger) => larger + 1,
    }
}

/// Of the product of numbers of 0 or more; infinity times 0 is NaN.
fn product(a: u16, b: u16) -> u16 {
    match (a.min(b), a.max(b)) {
        (0, _) => 0,
        (_, ANY) => ANY,
        (a, b) => a + b - 1,
    }
}

/// What operators make of limits.
struct Row {
    operators: &'static [&'static Operator],
    limits: fn(&Call, &[Limits], bool) -> Limits,
}

static ROWS: &[Row] = &[
    Row { operators: &[&TANH, &ERF, &SIN, &COS, &SIGN], limits: |_, _, _| Limits { above: 1, below: 1 } },
    Row { operators: &[&SIGMOID, &SOFTMAX], limits: |_, _, _| Limits { above: 1, below: 0 } },
    Row { operators: &[&LOG_SOFTMAX], limits: |_, _, _| Limits { above: 0, below: ANY } },
    Row { operators: &[&ATAN], limits: |_, _, _| Limits { above: 2, below: 2 } },
    Row { operators: &[&RELU], limits: |_, known, _| Limits { below: 0, ..known[0] } },
    Row {
        operators: &[&ABS],
        limits: |_, known, _| Limits { above: known[0].common(known[0].negative()).above, below: 0 },
    },
    Row { operators: &[&NEG], limits: |_, known, _| known[0].negative() },
    Row {
        operators: &[&EXP],
        limits: |_, known, _| Limits { above: if known[0].above == 0 { 1 } else { ANY }, below: 0 },
    },
    Row { operators: &[&CLIP], limits: clipped },
    Row {
        operators: &[&MINIMUM],
        limits: |_, known, _| Limits {
            above: known[0].above.min(known[1].above),
            ..known[0].common(known[1])
        },
    },
    Row {
        operators: &[&MAXIMUM],
        limits: |_, known, _| Limits {
            below: known[0].below.min(known[1].below),
            ..known[0].common(known[1])
        },
    },
    Row { operators: &[&WHERE], limits: |_, known, _| known[1].common(known[2]) },
    Row { operators: &[&GATHER, &CAST], limits: |_, known, _| known[0] },
    Row {
        operators: &REARRANGING,
        limits: |_, known, _| known.iter().copied().reduce(Limits::common).unwrap_or_default(),
    },
    Row { operators: &[&ADD], limits: |_, known, _| added(known[0], known[1]) },
    Row { operators: &[&SUB], limits: |_, known, _| added(known[0], known[1].negative()) },
    Row { operators: &[&MUL], limits: multiplied },
];

fn added(a: Limits, b: Limits) -> Limits {
    Limits { above: sum(a.above, b.above), below: sum(a.below, b.below) }
}

fn multiplied(_: &Call, known: &[Limits], are_one: bool) -> Limits {
    let (a, b) = (known[0], known[1]);
    let above = product(a.above, b.above).max(product(a.below, b.below));
    let below = product(a.above, b.below).max(product(a.below, b.above));
    Limits { above, below: if are_one { 0 } else { below } }
}

fn clipped(call: &Call, known: &[Limits], _: bool) -> Limits {
    let [least, most] =
        ["min", "max"].map(|bound| call.attrs.get(bound).map(|_| call.attrs.float_or(bound, 0.0)));
    let data = known[0];
    let at = |bound: Option<f64>, sign: f64, absent: u16| bound.map_or(absent, |v| level(sign * v));
    Limits {
        above: data.above.max(at(least, 1.0, 0)).min(at(most, 1.0, ANY)),
        below: data.below.min(at(least, -1.0, ANY)).max(at(most, -1.0, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::Attrs;

    const UNIT: Limits = Limits { above: 1, below: 1 };
    const LARGE: Limits = Limits { above: 16, below: 16 };
    const UNKNOWN: Limits = Limits { above: ANY, below: ANY };
    const POSITIVE: Limits = Limits { above: ANY, below: 0 };

    fn limits(op: &'static Operator, dtype: DType, operands: &[Limits], attrs: &Attrs) -> Limits {
        let ty = TensorType::fixed(&[4], dtype);
        let types = vec![ty.clone(); operands.len()];
        Limits::of_call(&Call { op, operands: &types, attrs }, &ty, operands, false)
    }

    #[test]
    fn numbers_say_themselves_how_large_they_are() {
        assert_eq!(Limits::of(&[0.5, -3.0]), Limits { above: 1, below: 3 });
        assert_eq!(Limits::of(&[4.0, f64::NAN]), Limits { above: 3, below: 0 });
        assert_eq!(Limits::of(&[f64::NEG_INFINITY]), Limits { above: 0, below: ANY });
    }

    #[test]
    fn sums_and_products_may_overflow() {
        let none = Attrs::new();
        assert_eq!(limits(&ADD, DType::F16, &[UNIT, UNIT], &none), Limits { above: 2, below: 2 });
        assert_eq!(limits(&ADD, DType::F16, &[LARGE, LARGE], &none), UNKNOWN);
        assert!(limits(&MUL, DType::F32, &[LARGE, LARGE], &none).are_below_infinity());
        assert_eq!(limits(&MUL, DType::F16, &[LARGE, LARGE], &none), UNKNOWN);
    }

    #[test]
    fn negatives_of_what_is_not_negative_are_not_above_zero() {
        let none = Attrs::new();
        assert!(!limits(&EXP, DType::F32, &[UNKNOWN], &none).are_below_infinity());
        assert_eq!(limits(&NEG, DType::F32, &[POSITIVE], &none), POSITIVE.negative());
        let negative = Limits { above: 0, below: 2 };
        assert_eq!(limits(&MUL, DType::F32, &[POSITIVE, negative], &none).above, 0);
    }

    #[test]
    fn a_clip_ends_at_its_bounds() {
        let clip = |attrs: Attrs, data| limits(&CLIP, DType::F32, &[data], &attrs);
        assert_eq!(clip(Attrs::new().with("max", 6.0), UNKNOWN), Limits { above: 4, below: ANY });
        assert_eq!(clip(Attrs::new().with("min", 6.0), UNIT), Limits { above: 4, below: 0 });
    }
}
