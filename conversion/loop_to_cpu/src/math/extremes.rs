//! The larger and the smaller of two numbers; what is no number stays, in whichever operand it is, or is passed over.
//!
//!     m = a > b ? a : b         one instruction of x86-64, which gives `b` where one of the two is no number
//!     a is a number ? m : a
//!
//! A constant, which is a number, goes first, so that one instruction keeps the second operand. Otherwise three; upstream's
//! expansion compares twice, joins the two and selects, and a reduction waits for the comparisons.
//!
//!     maxnumf(so_far, x)   =>   x > so_far ? x : so_far           one instruction, where `so_far` is a number
//!
//! What a reduction has found so far is one, where it begins with a number. Of two zeros either may be the result.

use super::floats::{Floats, Is};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{OpExt, Value, defining_op, float_of, kind_of};

/// The larger one.
pub fn maximum<'c>(m: &Floats<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    extreme(m, Is::Above, a, b)
}

/// The smaller one.
pub fn minimum<'c>(m: &Floats<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    extreme(m, Is::Below, a, b)
}

/// The larger one, or that which is a number.
pub fn max_number<'c>(m: &Floats<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    if m.first_is_number || is_constant_number(a) {
        return m.select(m.is(Is::Above, b, a), b, a);
    }
    let larger = m.select(m.is(Is::Above, a, b), a, b);
    m.select(m.is(Is::Number, b, b), larger, a)
}

fn extreme<'c>(m: &Floats<'c>, how: Is, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    if is_constant_number(a) {
        return m.select(m.is(how, a, b), a, b);
    }
    if is_constant_number(b) {
        return m.select(m.is(how, b, a), b, a);
    }
    let extreme = m.select(m.is(how, a, b), a, b);
    m.select(m.is(Is::Number, a, a), extreme, a)
}

fn is_constant_number(value: Value) -> bool {
    let constant = |op| matches!(kind_of(op), Some(Kind::Upstream(Upstream::ArithConstant)));
    let number = defining_op(value).filter(|op| constant(*op)).and_then(|op| float_of(op.attr("value")?));
    number.is_some_and(|n| !n.is_nan())
}
