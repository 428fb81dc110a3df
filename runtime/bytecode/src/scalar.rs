//! Numbers by themselves: operators on tensors of rank 0 that are instructions.
//!
//! ```text
//!   %2 = scalar sub i32(%0, %1) -> i32        a counter needs no kernel
//! ```
//! What a row computes is what the operator's reference semantics give: integers wrap, division truncates toward zero and fails
//! on a zero divisor, comparisons with NaN are false (but `not_equal`), casts of floats to integers truncate and saturate. Element
//! types of 16 bits of float are left to kernels.

use fusion_operators::dtype::Class;
use fusion_operators::{DType, Operator, ops};
use serde::{Deserialize, Serialize};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Scalar {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Neg,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Xor,
    Not,
    Where,
    Cast,
}

/// What the result's element type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    Same,
    Truth,
    Any,
}

/// A scalar instruction's operator, element types and result.
struct Row {
    operator: &'static Operator,
    scalar: Scalar,
    takes: &'static [Class],
    gives: Gives,
}

const NUMBERS: &[Class] = &[Class::Float, Class::Signed, Class::Unsigned];
const INTEGERS: &[Class] = &[Class::Signed, Class::Unsigned];
const TRUTHS: &[Class] = &[Class::Bool];
const ALL: &[Class] = &[Class::Float, Class::Signed, Class::Unsigned, Class::Bool];

macro_rules! rows {
    ($($operator:ident $scalar:ident $takes:ident $gives:ident;)*) => {
        &[$(Row { operator: &ops::elementwise::$operator, scalar: Scalar::$scalar, takes: $takes, gives: Gives::$gives }),*]
    };
}

/// In the order of [`Scalar`].
static ROWS: &[Row] = rows! {
    ADD Add NUMBERS Same;
    SUB Sub NUMBERS Same;
    MUL Mul NUMBERS Same;
    DIV Div NUMBERS Same;
    MOD Mod INTEGERS Same;
    NEG Neg NUMBERS Same;
    EQUAL Equal ALL Truth;
    NOT_EQUAL NotEqual ALL Truth;
    LESS Less ALL Truth;
    LESS_EQUAL LessEqual ALL Truth;
    GREATER Greater ALL Truth;
    GREATER_EQUAL GreaterEqual ALL Truth;
    LOGICAL_AND And TRUTHS Same;
    LOGICAL_OR Or TRUTHS Same;
    LOGICAL_XOR Xor TRUTHS Same;
    LOGICAL_NOT Not TRUTHS Same;
    WHERE Where ALL Same;
    CAST Cast ALL Any;
};

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalarError {
    /// Of integers.
    #[error("integer division by zero")]
    Division,
    /// Of integers.
    #[error("integer remainder by zero")]
    Remainder,
}

/// True for element types that have scalar instructions.
fn has_instructions(ty: DType) -> bool {
    !matches!(ty, DType::F16 | DType::BF16 | DType::String)
}

impl Scalar {
    /// The instruction of an operator, where it has one.
    pub fn of(operator: &Operator) -> Option<Scalar> {
        ROWS.iter().find(|row| row.operator.is(operator)).map(|row| row.scalar)
    }

    /// The one whose operator has that name.
    pub fn named(name: &str) -> Option<Scalar> {
        ROWS.iter().find(|row| row.operator.name == name).map(|row| row.scalar)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The operator.
    pub fn operator(self) -> &'static Operator {
        self.row().operator
    }

    /// How many operands it takes.
    pub fn arity(self) -> usize {
        self.row().operator.arity().0
    }

    /// The element type of an operand: `where` takes a truth first.
    pub fn operand_type(self, index: usize, ty: DType) -> DType {
        if self == Scalar::Where && index == 0 { DType::Bool } else { ty }
    }

    /// True when it can be computed of numbers of a type, with a result of that type.
    pub fn fits(self, ty: DType, result: DType) -> bool {
        let row = self.row();
        let gives = match row.gives {
            Gives::Same => result == ty,
            Gives::Truth => result == DType::Bool,
            Gives::Any => has_instructions(result),
        };
        gives && has_instructions(ty) && row.takes.contains(&ty.class())
    }

    /// Computes the bits of the result of the bits of the operands; the upper bits of either are zero. It [`fits`](Scalar::fits).
    #[inline]
    pub fn compute(self, ty: DType, result: DType, x: [u64; 3]) -> Result<u64, ScalarError> {
        if self == Scalar::Where {
            return Ok(if x[0] != 0 { x[1] } else { x[2] });
        }
        if self == Scalar::Cast {
            return Ok(cast(ty, result, x[0]));
        }
        let [a, b, _] = x;
        match ty {
            DType::I32 => self.signed(i64::from(a as i32), i64::from(b as i32)).map(|v| u64::from(v as u32)),
            DType::I64 => self.signed(a as i64, b as i64).map(|v| v as u64),
            DType::F32 => {
                let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
                Ok(self.float(f64::from(a), f64::from(b)).unwrap_or_else(|v| u64::from((v as f32).to_bits())))
            }
            DType::F64 => {
                Ok(self.float(f64::from_bits(a), f64::from_bits(b)).unwrap_or_else(|v| v.to_bits()))
            }
            DType::I16 => self.signed(i64::from(a as i16), i64::from(b as i16)).map(|v| u64::from(v as u16)),
            DType::I8 => self.signed(i64::from(a as i8), i64::from(b as i8)).map(|v| u64::from(v as u8)),
            DType::Bool if self == Scalar::Not => Ok(u64::from(a == 0)),
            _ => {
                let bits = 8 * ty.size() as u32;
                let kept = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                self.unsigned(a, b).map(|v| v & kept)
            }
        }
    }

    /// The result, which is to be cut to the width of its type.
    #[inline]
    fn signed(self, a: i64, b: i64) -> Result<i64, ScalarError> {
        Ok(match self {
            Scalar::Add => a.wrapping_add(b),
            Scalar::Sub => a.wrapping_sub(b),
            Scalar::Mul => a.wrapping_mul(b),
            Scalar::Div if b == 0 => return Err(ScalarError::Division),
            Scalar::Div => a.wrapping_div(b),
            Scalar::Mod if b == 0 => return Err(ScalarError::Remainder),
            Scalar::Mod => {
                let rest = a.wrapping_rem(b);
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            Scalar::Neg => a.wrapping_neg(),
            _ => i64::from(self.ordered(a.partial_cmp(&b))),
        })
    }

    #[inline]
    fn unsigned(self, a: u64, b: u64) -> Result<u64, ScalarError> {
        Ok(match self {
            Scalar::Add => a.wrapping_add(b),
            Scalar::Sub => a.wrapping_sub(b),
            Scalar::Mul => a.wrapping_mul(b),
            Scalar::Div => a.checked_div(b).ok_or(ScalarError::Division)?,
            Scalar::Mod => a.checked_rem(b).ok_or(ScalarError::Remainder)?,
            Scalar::Neg => a.wrapping_neg(),
            Scalar::And => a & b,
            Scalar::Or => a | b,
            Scalar::Xor => a ^ b,
            _ => u64::from(self.ordered(a.partial_cmp(&b))),
        })
    }

    /// A truth, or a number that is to be rounded to its type: of sums, products and quotients of f32 that is the same as
    /// computing in f32.
    #[inline]
    fn float(self, a: f64, b: f64) -> Result<u64, f64> {
        Err(match self {
            Scalar::Add => a + b,
            Scalar::Sub => a - b,
            Scalar::Mul => a * b,
            Scalar::Div => a / b,
            Scalar::Neg => -a,
            _ => return Ok(u64::from(self.ordered(a.partial_cmp(&b)))),
        })
    }

    #[inline]
    fn ordered(self, order: Option<std::cmp::Ordering>) -> bool {
        match self {
            Scalar::Equal => order.is_some_and(|o| o.is_eq()),
            Scalar::NotEqual => order.is_none_or(|o| o.is_ne()),
            Scalar::Less => order.is_some_and(|o| o.is_lt()),
            Scalar::LessEqual => order.is_some_and(|o| o.is_le()),
            Scalar::Greater => order.is_some_and(|o| o.is_gt()),
            Scalar::GreaterEqual => order.is_some_and(|o| o.is_ge()),
            _ => false,
        }
    }
}

/// As the operator `cast`; integers become floats by way of f64.
fn cast(from: DType, to: DType, bits: u64) -> u64 {
    if from.is_float() {
        let value = match from {
            DType::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        return match to {
            DType::F64 => value.to_bits(),
            DType::F32 => u64::from((value as f32).to_bits()),
            DType::Bool => u64::from(value != 0.0),
            DType::I64 => value as i64 as u64,
            DType::I32 => u64::from(value as i32 as u32),
            DType::I16 => u64::from(value as i16 as u16),
            DType::I8 => u64::from(value as i8 as u8),
            DType::U64 => value as u64,
            DType::U32 => u64::from(value as u32),
            DType::U16 => u64::from(value as u16),
            _ => u64::from(value as u8),
        };
    }
    let value = match from {
        DType::I64 => i128::from(bits as i64),
        DType::I32 => i128::from(bits as i32),
        DType::I16 => i128::from(bits as i16),
        DType::I8 => i128::from(bits as i8),
        _ => i128::from(bits),
    };
    match to {
        DType::F64 => (value as f64).to_bits(),
        DType::F32 => u64::from((value as f64 as f32).to_bits()),
        DType::Bool => u64::from(value != 0),
        _ if to.size() == 8 => value as u64,
        _ => value as u64 & ((1 << (8 * to.size())) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_their_numbers() {
        for (i, row) in ROWS.iter().enumerate() {
            assert_eq!(row.scalar as usize, i);
        }
    }
}
