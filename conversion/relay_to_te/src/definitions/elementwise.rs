//! Elementwise operators: `y[i] = f(x0[i'], x1[i''], ...)` where `i'` is `i` with broadcast axes at 0. Whether an axis of a dynamic
//! extent is one is asked when the kernel runs.

use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::dtype::Class;
use fusion_operators::ops::elementwise::*;
use fusion_operators::ops::quantization::SIMULATED_QUANTIZE;
use fusion_operators::{Attrs, DType, Dim};

/// A scalar function; half types come as f32.
type Function = for<'c> fn(&Scalars<'c>, &Attrs, &[Scalar<'c>]) -> Scalar<'c>;

fn apply<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    function: impl FnOnce(&Scalars<'c>, &[Scalar<'c>]) -> Scalar<'c>,
) -> Result<Vec<Value<'c>>, String> {
    let to = &call.results[0].dims;
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let loaded: Vec<_> = (0..call.operands.len())
            .map(|k| s.load(call.operands[k], &broadcast_indices(s, axes, call.dims(k), to)))
            .collect();
        function(s, &loaded)
    });
    Ok(vec![result])
}

/// The indices of an operand that broadcasts to the axes, whose extents are `to`: its own extents of 1 stay at 0.
pub fn broadcast_indices<'c>(
    s: &Scalars<'c>,
    axes: &[Value<'c>],
    from: &[Dim],
    to: &[Dim],
) -> Vec<Value<'c>> {
    let skip = to.len() - from.len();
    let place = |(i, dim): (usize, &Dim)| match dim {
        Dim::Static(1) => s.index(0),
        Dim::Symbol(_) if *dim != to[i + skip] => {
            let one = s.index_compare(Compare::Equal, s.extent(dim), s.index(1));
            s.index_select(one, s.index(0), axes[i + skip])
        }
        _ => axes[i + skip],
    };
    from.iter().enumerate().map(place).collect()
}

macro_rules! table {
    ($($op:ident => $f:expr;)*) => {
        /// Each operator and what it makes of scalars.
        const FUNCTIONS: &[(&fusion_operators::Operator, Function)] = &[$((&$op, $f)),*];

        pub const TABLE: Table = &[$((&$op, |kernel, call| {
            const F: Function = $f;
            apply(kernel, call, |s, x| F(s, &call.attrs, x))
        })),*];
    };
}

/// What an elementwise operator makes of elements, in the type it is computed in; `None` for other operators.
pub fn element<'c>(
    s: &Scalars<'c>,
    operator: &fusion_operators::Operator,
    attrs: &Attrs,
    operands: &[Scalar<'c>],
    dtype: DType,
) -> Option<Scalar<'c>> {
    let (_, function) = FUNCTIONS.iter().find(|(o, _)| operator.is(o))?;
    // Rounded to the type of the result, as in memory.
    Some(s.cast(s.cast(function(s, attrs, operands), dtype), s.compute_type(dtype)))
}

table! {
    ABS => |s, _, x| match x[0].dtype.class() {
        Class::Float => s.math("absf", x),
        Class::Signed => s.max(x[0], s.neg(x[0])),
        _ => x[0],
    };
    NEG => |s, _, x| s.neg(x[0]);
    SIGN => |s, _, x| sign(s, x[0]);
    RELU => |s, _, x| s.max(x[0], s.int(0, x[0].dtype));
    EXP => |s, _, x| s.math("exp", x);
    LOG => |s, _, x| s.math("log", x);
    LOG1P => |s, _, x| s.math("log1p", x);
    SQRT => |s, _, x| s.math("sqrt", x);
    RSQRT => |s, _, x| s.div(s.float(1.0, x[0].dtype), s.math("sqrt", x));
    RECIPROCAL => |s, _, x| s.div(s.float(1.0, x[0].dtype), x[0]);
    SIN => |s, _, x| s.math("sin", x);
    COS => |s, _, x| s.math("cos", x);
    TAN => |s, _, x| s.math("tan", x);
    ASIN => |s, _, x| s.math("asin", x);
    ACOS => |s, _, x| s.math("acos", x);
    ATAN => |s, _, x| s.math("atan", x);
    SINH => |s, _, x| s.math("sinh", x);
    COSH => |s, _, x| s.math("cosh", x);
    TANH => |s, _, x| s.math("tanh", x);
    ASINH => |s, _, x| s.math("asinh", x);
    ACOSH => |s, _, x| s.math("acosh", x);
    ATANH => |s, _, x| s.math("atanh", x);
    ERF => |s, _, x| s.math("erf", x);
    SIGMOID => |s, _, x| { let one = s.float(1.0, x[0].dtype); s.div(one, s.add(one, s.math("exp", &[s.neg(x[0])]))) };
    FLOOR => |s, _, x| s.math("floor", x);
    CEIL => |s, _, x| s.math("ceil", x);
    ROUND => |s, _, x| s.math("roundeven", x);
    IS_NAN => |s, _, x| s.compare(Compare::NotEqual, x[0], x[0]);
    IS_INF => |s, _, x| s.compare(Compare::Equal, s.math("absf", x), s.float(f64::INFINITY, x[0].dtype));
    LOGICAL_NOT => |s, _, x| s.not(x[0]);
    BITWISE_NOT => |s, _, x| s.not(x[0]);
    ADD => |s, _, x| s.add(x[0], x[1]);
    SUB => |s, _, x| s.sub(x[0], x[1]);
    MUL => |s, _, x| s.mul(x[0], x[1]);
    DIV => |s, _, x| s.div(x[0], x[1]);
    MOD => |s, _, x| modulo(s, x[0], x[1]);
    FMOD => |s, _, x| s.rem(x[0], x[1]);
    POW => |s, _, x| if x[0].dtype.is_float() { s.math("powf", x) } else { int_power(s, x[0], x[1]) };
    MINIMUM => |s, _, x| s.min(x[0], x[1]);
    MAXIMUM => |s, _, x| s.max(x[0], x[1]);
    EQUAL => |s, _, x| s.compare(Compare::Equal, x[0], x[1]);
    NOT_EQUAL => |s, _, x| s.compare(Compare::NotEqual, x[0], x[1]);
    LESS => |s, _, x| s.compare(Compare::Less, x[0], x[1]);
    LESS_EQUAL => |s, _, x| s.compare(Compare::LessEqual, x[0], x[1]);
    GREATER => |s, _, x| s.compare(Compare::Greater, x[0], x[1]);
    GREATER_EQUAL => |s, _, x| s.compare(Compare::GreaterEqual, x[0], x[1]);
    LOGICAL_AND => |s, _, x| s.and(x[0], x[1]);
    LOGICAL_OR => |s, _, x| s.or(x[0], x[1]);
    LOGICAL_XOR => |s, _, x| s.xor(x[0], x[1]);
    BITWISE_AND => |s, _, x| s.and(x[0], x[1]);
    BITWISE_OR => |s, _, x| s.or(x[0], x[1]);
    BITWISE_XOR => |s, _, x| s.xor(x[0], x[1]);
    SHIFT_LEFT => |s, _, x| s.shift_left(x[0], x[1]);
    SHIFT_RIGHT => |s, _, x| s.shift_right(x[0], x[1]);
    WHERE => |s, _, x| s.select(x[0], x[1], x[2]);
    CAST => |_, _, x| x[0];
    CLIP => |s, attrs, x| clip(s, x[0], attrs);
    SIMULATED_QUANTIZE => |s, _, x| simulated(s, x);
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

/// `x` where the scale is 0.
fn simulated<'c>(s: &Scalars<'c>, x: &[Scalar<'c>]) -> Scalar<'c> {
    let [data, scale, zero, least, most] = [x[0], x[1], x[2], x[3], x[4]];
    let is_none = s.compare(Compare::Equal, scale, s.int(0, scale.dtype));
    let by = s.select(is_none, s.float(1.0, scale.dtype), scale);
    let q = s.add(s.math("roundeven", &[s.div(data, by)]), zero);
    let q = s.min(s.max(q, least), most);
    s.select(is_none, data, s.mul(s.sub(q, zero), by))
}

/// A power of integers. MLIR's divides by a base of 0 where the exponent is negative, and has no unsigned exponents: with its highest bit
/// alone, 2^(bits - 1), an odd number's power is 1 and an even one's 0.
fn int_power<'c>(s: &Scalars<'c>, x: Scalar<'c>, n: Scalar<'c>) -> Scalar<'c> {
    let dtype = x.dtype;
    let zero = s.int(0, dtype);
    match dtype.class() {
        Class::Bool => s.or(x, s.not(n)),
        Class::Unsigned => {
            let highest = 1i64 << (8 * dtype.size() - 1);
            let rest = s.and(n, s.int(highest.wrapping_sub(1), dtype));
            let power = s.math("ipowi", &[x, rest]);
            let is_high = s.compare(Compare::NotEqual, s.and(n, s.int(highest, dtype)), zero);
            s.select(is_high, s.mul(power, s.and(x, s.int(1, dtype))), power)
        }
        _ => {
            let is_zero = s.compare(Compare::Equal, x, zero);
            let divides = s.and(is_zero, s.compare(Compare::Less, n, zero));
            // What is above 1 becomes 0 there, too.
            s.math("ipowi", &[s.select(divides, s.int(2, dtype), x), n])
        }
    }
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
        Class::Bool => (v as i64).clamp(0, 1),
        _ if bits < 64 => (v as u64).min((1 << bits) - 1) as i64,
        _ => v as u64 as i64,
    }
}
