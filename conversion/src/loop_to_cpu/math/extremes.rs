//! The larger and the smaller of two numbers; what is no number stays, in whichever operand it is.
//!
//!     m = a > b ? a : b         one instruction of x86-64, which gives `b` where one of the two is no number
//!     a is a number ? m : a
//!
//! Three instructions; upstream's expansion compares twice, joins the two and selects, and a reduction waits for the comparisons.
//! Of two zeros either may be the result.

use super::floats::{Floats, Is};
use fusion_dialects::Value;

/// The larger one.
pub fn maximum<'c>(m: &Floats<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    extreme(m, Is::Above, a, b)
}

/// The smaller one.
pub fn minimum<'c>(m: &Floats<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    extreme(m, Is::Below, a, b)
}

fn extreme<'c>(m: &Floats<'c>, how: Is, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    let extreme = m.select(m.is(how, a, b), a, b);
    m.select(m.is(Is::Number, a, a), extreme, a)
}
