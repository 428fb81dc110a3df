//! How the elements of a reduction are put together.

use super::scalar::{Scalar, Scalars};
use fusion_operators::DType;

/// How the elements of a reduction are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Combine {
    Sum,
    Product,
    Max,
    /// The greatest number of floats; what is no number is passed over.
    MaxNumber,
    Min,
    All,
    Any,
}

/// A neutral element.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Neutral {
    Float(f64),
    Int(i64),
}

/// The element that changes nothing.
pub fn neutral(how: Combine, dtype: DType) -> Neutral {
    use fusion_operators::dtype::Class;
    let bits = 8 * dtype.size() as u32;
    let float = dtype.is_float();
    let (least, most) = match dtype.class() {
        Class::Signed => (-1i64 << (bits - 1), !(-1i64 << (bits - 1))),
        // All ones, whatever the width.
        _ => (0, -1),
    };
    match how {
        Combine::Sum | Combine::Any => {
            if float {
                Neutral::Float(0.0)
            } else {
                Neutral::Int(0)
            }
        }
        Combine::Product | Combine::All => {
            if float {
                Neutral::Float(1.0)
            } else {
                Neutral::Int(1)
            }
        }
        Combine::Max | Combine::MaxNumber => {
            if float {
                Neutral::Float(f64::NEG_INFINITY)
            } else {
                Neutral::Int(least)
            }
        }
        Combine::Min => {
            if float {
                Neutral::Float(f64::INFINITY)
            } else {
                Neutral::Int(most)
            }
        }
    }
}

pub(super) fn combine<'c>(s: &Scalars<'c>, how: Combine, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    match how {
        Combine::Sum => s.add(a, b),
        Combine::Product => s.mul(a, b),
        Combine::Max => s.max(a, b),
        Combine::MaxNumber => s.max_number(a, b),
        Combine::Min => s.min(a, b),
        Combine::All => s.and(a, b),
        Combine::Any => s.or(a, b),
    }
}
