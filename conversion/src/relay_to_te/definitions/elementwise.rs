//! Elementwise operators: `y[i] = f(x0[i'], x1[i''], ...)` where `i'` is `i` with broadcast axes at 0.

use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::dtype::Class;
use fusion_operators::ops::elementwise::*;
use fusion_operators::{Attrs, DType};

/// A scalar function; half types come as f32.
type Function = for<'c> fn(&Scalars<'c>, &[Scalar<'c>]) -> Scalar<'c>;

fn apply<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    function: impl FnOnce(&Scalars<'c>, &[Scalar<'c>]) -> Scalar<'c>,
) -> Result<Vec<Value<'c>>, String> {
    let rank = call.results[0].rank();
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let loaded: Vec<_> = (0..call.operands.len())
            .map(|k| s.load(call.operands[k], &broadcast_indices(s, axes, &call.shape(k), rank)))
            .collect();
        function(s, &loaded)
    });
    Ok(vec![result])
}

/// The indices of an operand that broadcasts to the axes: its own extents of 1 stay at 0.
pub fn broadcast_indices<'c>(
    s: &Scalars<'c>,
    axes: &[Value<'c>],
    shape: &[u64],
    rank: usize,
) -> Vec<Value<'c>> {
    let skip = rank - shape.len();
    shape.iter().enumerate().map(|(i, &n)| if n == 1 { s.index(0) } else { axes[i + skip] }).collect()
}

macro_rules! table {
    ($($op:ident => $f:expr;)*) => {
        &[$((&$op, |kernel, call| { const F: Function = $f; apply(kernel, call, F) })),*]
    };
}

const SCALAR: Table = table! {
    ABS => |s, x| match x[0].dtype.class() {
        Class::Float => s.math("absf", x),
        Class::Signed => s.max(x[0], s.neg(x[0])),
        _ => x[0],
    };
    NEG => |s, x| s.neg(x[0]);
    SIGN => |s, x| sign(s, x[0]);
    RELU => |s, x| s.max(x[0], s.int(0, x[0].dtype));
    EXP => |s, x| s.math("exp", x);
    LOG => |s, x| s.math("log", x);
    SQRT => |s, x| s.math("sqrt", x);
    RSQRT => |s, x| s.div(s.float(1.0, x[0].dtype), s.math("sqrt", x));
    RECIPROCAL => |s, x| s.div(s.float(1.0, x[0].dtype), x[0]);
    SIN => |s, x| s.math("sin", x);
    COS => |s, x| s.math("cos", x);
    TAN => |s, x| s.math("tan", x);
    ASIN => |s, x| s.math("asin", x);
    ACOS => |s, x| s.math("acos", x);
    ATAN => |s, x| s.math("atan", x);
    SINH => |s, x| s.math("sinh", x);
    COSH => |s, x| s.math("cosh", x);
    TANH => |s, x| s.math("tanh", x);
    ASINH => |s, x| s.math("asinh", x);
    ACOSH => |s, x| s.math("acosh", x);
    ATANH => |s, x| s.math("atanh", x);
    ERF => |s, x| s.math("erf", x);
    SIGMOID => |s, x| { let one = s.float(1.0, x[0].dtype); s.div(one, s.add(one, s.math("exp", &[s.neg(x[0])]))) };
    FLOOR => |s, x| s.math("floor", x);
    CEIL => |s, x| s.math("ceil", x);
    ROUND => |s, x| s.math("roundeven", x);
    IS_NAN => |s, x| s.compare(Compare::NotEqual, x[0], x[0]);
    IS_INF => |s, x| s.compare(Compare::Equal, s.math("absf", x), s.float(f64::INFINITY, x[0].dtype));
    LOGICAL_NOT => |s, x| s.not(x[0]);
    BITWISE_NOT => |s, x| s.not(x[0]);
    ADD => |s, x| s.add(x[0], x[1]);
    SUB => |s, x| s.sub(x[0], x[1]);
    MUL => |s, x| s.mul(x[0], x[1]);
    DIV => |s, x| s.div(x[0], x[1]);
    MOD => |s, x| modulo(s, x[0], x[1]);
    FMOD => |s, x| s.rem(x[0], x[1]);
    POW => |s, x| if x[0].dtype.is_float() { s.math("powf", x) } else { s.math("ipowi", x) };
    MINIMUM => |s, x| s.min(x[0], x[1]);
    MAXIMUM => |s, x| s.max(x[0], x[1]);
    EQUAL => |s, x| s.compare(Compare::Equal, x[0], x[1]);
    NOT_EQUAL => |s, x| s.compare(Compare::NotEqual, x[0], x[1]);
    LESS => |s, x| s.compare(Compare::Less, x[0], x[1]);
    LESS_EQUAL => |s, x| s.compare(Compare::LessEqual, x[0], x[1]);
    GREATER => |s, x| s.compare(Compare::Greater, x[0], x[1]);
    GREATER_EQUAL => |s, x| s.compare(Compare::GreaterEqual, x[0], x[1]);
    LOGICAL_AND => |s, x| s.and(x[0], x[1]);
    LOGICAL_OR => |s, x| s.or(x[0], x[1]);
    LOGICAL_XOR => |s, x| s.xor(x[0], x[1]);
    BITWISE_AND => |s, x| s.and(x[0], x[1]);
    BITWISE_OR => |s, x| s.or(x[0], x[1]);
    BITWISE_XOR => |s, x| s.xor(x[0], x[1]);
    SHIFT_LEFT => |s, x| s.shift_left(x[0], x[1]);
    SHIFT_RIGHT => |s, x| s.shift_right(x[0], x[1]);
    WHERE => |s, x| s.select(x[0], x[1], x[2]);
    CAST => |_, x| x[0];
};

/// Operators whose function depends on attributes.
const WITH_ATTRIBUTES: Table = &[(&CLIP, |kernel, call| {
    let attrs = &call.attrs;
    apply(kernel, call, |s, x| clip(s, x[0], attrs))
})];

pub const TABLE: Table = &concat();

const fn concat()
-> [(&'static fusion_operators::Operator, super::Definition); SCALAR.len() + WITH_ATTRIBUTES.len()] {
    let mut all = [SCALAR[0]; SCALAR.len() + WITH_ATTRIBUTES.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < SCALAR.len() { SCALAR[i] } else { WITH_ATTRIBUTES[i - SCALAR.len()] };
        i += 1;
    }
    all
}

fn sign<'c>(s: &Scalars<'c>, x: Scalar<'c>) -> Scalar<'c> {
    let (zero, one) = (s.int(0, x.dtype), s.int(1, x.dtype));
    let above = s.compare(Compare::Greater, x, zero);
    let below = s.compare(Compare::Less, x, zero);
    // What is neither above nor below 0 is 0 or NaN, and stays.
    s.select(above, one, s.select(below, s.neg(one), x))
}

/// Remainder with the sign of the divisor.
fn modulo<'c>(s: &Scalars<'c>, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    let rest = s.rem(a, b);
    let zero = s.int(0, a.dtype);
    let signs_differ = s.xor(s.compare(Compare::Less, rest, zero), s.compare(Compare::Less, b, zero));
    let wrong = s.and(signs_differ, s.compare(Compare::NotEqual, rest, zero));
    s.select(wrong, s.add(rest, b), rest)
}

fn clip<'c>(s: &Scalars<'c>, x: Scalar<'c>, attrs: &Attrs) -> Scalar<'c> {
    let bound =
        |v: f64| if x.dtype.is_float() { s.float(v, x.dtype) } else { s.int(int_bound(v, x.dtype), x.dtype) };
    let (least, most) = (attrs.float_or("min", f64::NEG_INFINITY), attrs.float_or("max", f64::INFINITY));
    let low = if attrs.get("min").is_some() { s.max(x, bound(least)) } else { x };
    if attrs.get("max").is_some() { s.min(low, bound(most)) } else { low }
}

/// The bound of a clip as the bits of the integer type nearest to it.
fn int_bound(v: f64, dtype: DType) -> i64 {
    let bits = 8 * dtype.size() as u32;
    match dtype.class() {
        Class::Signed if bits < 64 => (v as i64).clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1),
        Class::Signed => v as i64,
        _ if bits < 64 => (v as u64).min((1 << bits) - 1) as i64,
        _ => v as u64 as i64,
    }
}
