//! Operators of each element by itself.

use super::{Built, Call, Kind, Pair, Same, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_operators::ops::{elementwise as ew, shape};
use fusion_operators::{Attrs, DType, Operator};

const fn same(name: &'static str, operands: usize, row: &'static Operator) -> Same {
    Same { name, row, operands, attributes: &[] }
}

#[rustfmt::skip]
pub const SAME: &[Same] = &[
    same("abs", 1, &ew::ABS), same("negative", 1, &ew::NEG), same("sign", 1, &ew::SIGN), same("nn.relu", 1, &ew::RELU),
    same("exp", 1, &ew::EXP), same("log", 1, &ew::LOG), same("log1p", 1, &ew::LOG1P), same("sqrt", 1, &ew::SQRT), same("rsqrt", 1, &ew::RSQRT),
    same("sin", 1, &ew::SIN), same("cos", 1, &ew::COS), same("tan", 1, &ew::TAN),
    same("asin", 1, &ew::ASIN), same("acos", 1, &ew::ACOS), same("atan", 1, &ew::ATAN),
    same("sinh", 1, &ew::SINH), same("cosh", 1, &ew::COSH), same("tanh", 1, &ew::TANH),
    same("asinh", 1, &ew::ASINH), same("acosh", 1, &ew::ACOSH), same("atanh", 1, &ew::ATANH),
    same("erf", 1, &ew::ERF), same("sigmoid", 1, &ew::SIGMOID),
    same("floor", 1, &ew::FLOOR), same("ceil", 1, &ew::CEIL), same("round", 1, &ew::ROUND),
    same("isnan", 1, &ew::IS_NAN), same("isinf", 1, &ew::IS_INF),
    same("logical_not", 1, &ew::LOGICAL_NOT), same("bitwise_not", 1, &ew::BITWISE_NOT),
    same("add", 2, &ew::ADD), same("subtract", 2, &ew::SUB), same("multiply", 2, &ew::MUL), same("divide", 2, &ew::DIV),
    same("floor_mod", 2, &ew::MOD), same("mod", 2, &ew::FMOD), same("power", 2, &ew::POW),
    same("minimum", 2, &ew::MINIMUM), same("maximum", 2, &ew::MAXIMUM),
    same("equal", 2, &ew::EQUAL), same("not_equal", 2, &ew::NOT_EQUAL),
    same("less", 2, &ew::LESS), same("less_equal", 2, &ew::LESS_EQUAL),
    same("greater", 2, &ew::GREATER), same("greater_equal", 2, &ew::GREATER_EQUAL),
    same("logical_and", 2, &ew::LOGICAL_AND), same("logical_or", 2, &ew::LOGICAL_OR), same("logical_xor", 2, &ew::LOGICAL_XOR),
    same("bitwise_and", 2, &ew::BITWISE_AND), same("bitwise_or", 2, &ew::BITWISE_OR), same("bitwise_xor", 2, &ew::BITWISE_XOR),
    same("left_shift", 2, &ew::SHIFT_LEFT), same("right_shift", 2, &ew::SHIFT_RIGHT),
    same("where", 3, &ew::WHERE),
    Same { name: "cast", row: &ew::CAST, operands: 1, attributes: &[Pair { theirs: "dtype", ours: "dtype", kind: Kind::Element }] },
    Same { name: "clip", row: &ew::CLIP, operands: 1, attributes: &[
        Pair { theirs: "a_min", ours: "min", kind: Kind::Float }, Pair { theirs: "a_max", ours: "max", kind: Kind::Float }] },
];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("copy", 1, &[], first),
    built("fast_exp", 1, &[], |call| one(call, &ew::EXP)), built("fast_tanh", 1, &[], |call| one(call, &ew::TANH)),
    built("fast_erf", 1, &[], |call| one(call, &ew::ERF)),
    built("trunc_divide", 2, &[], |call| one(call, &ew::DIV)), built("trunc_mod", 2, &[], |call| one(call, &ew::FMOD)),
    built("floor_divide", 2, &[], floor_divide),
    built("log2", 1, &[], |call| logarithm(call, std::f64::consts::LOG2_E)),
    built("log10", 1, &[], |call| logarithm(call, std::f64::consts::LOG10_E)),
    built("trunc", 1, &[], trunc), built("isfinite", 1, &[], is_finite),
    built("nn.leaky_relu", 1, &["alpha"], leaky_relu), built("nn.prelu", 2, &["axis"], prelu),
    built("cast_like", 2, &[], cast_like),
];

fn first<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    Ok(call.arguments[0].clone())
}

/// One row, under another name.
fn one<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    let operands = call.operands();
    call.plain(row, &operands).map(Made::Value)
}

/// floor(a / b): of integers (a - a mod b) / b, the remainder having the sign of the divisor.
fn floor_divide<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let operands = call.operands();
    if call.ty(operands[0])?.is_some_and(|ty| ty.dtype.is_float()) {
        let quotient = call.plain(&ew::DIV, &operands)?;
        return call.plain(&ew::FLOOR, &[quotient]).map(Made::Value);
    }
    let rest = call.plain(&ew::MOD, &operands)?;
    let whole = call.plain(&ew::SUB, &[operands[0], rest])?;
    call.plain(&ew::DIV, &[whole, operands[1]]).map(Made::Value)
}

fn logarithm<'c>(call: &mut Call<'_, 'c, '_>, factor: f64) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let log = call.plain(&ew::LOG, &[x])?;
    let factor = call.like(x, factor)?;
    call.plain(&ew::MUL, &[log, factor]).map(Made::Value)
}

fn trunc<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let zero = call.like(x, 0.0)?;
    let negative = call.plain(&ew::LESS, &[x, zero])?;
    let up = call.plain(&ew::CEIL, &[x])?;
    let down = call.plain(&ew::FLOOR, &[x])?;
    call.plain(&ew::WHERE, &[negative, up, down]).map(Made::Value)
}

fn is_finite<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let nan = call.plain(&ew::IS_NAN, &[x])?;
    let infinite = call.plain(&ew::IS_INF, &[x])?;
    let either = call.plain(&ew::LOGICAL_OR, &[nan, infinite])?;
    call.plain(&ew::LOGICAL_NOT, &[either]).map(Made::Value)
}

/// x where it is above 0, else slope * x.
fn leaky<'c>(call: &mut Call<'_, 'c, '_>, slope: fusion_dialects::Value<'c>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let zero = call.like(x, 0.0)?;
    let above = call.plain(&ew::GREATER, &[x, zero])?;
    let scaled = call.plain(&ew::MUL, &[x, slope])?;
    call.plain(&ew::WHERE, &[above, x, scaled]).map(Made::Value)
}

fn leaky_relu<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let alpha = call.float("alpha", 0.05)?;
    let x = call.operand(0);
    let slope = call.like(x, alpha)?;
    leaky(call, slope)
}

fn prelu<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let axis = call.int("axis", 1)?;
    let x = call.operand(0);
    let mut slope = call.operand(1);
    let rank = call.rank(x)?;
    let behind = rank - 1 - call.axis_in(axis, rank)?;
    if behind > 0 {
        let axes: Vec<i64> = (1..=behind as i64).collect();
        slope = call.row(&shape::EXPAND_DIMS, &[slope], Attrs::new().with("axes", axes))?;
    }
    leaky(call, slope)
}

fn cast_like<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let like = call.operand(1);
    let dtype: DType = call.known(like, "the element type")?.dtype;
    let x = call.operand(0);
    call.cast(x, dtype).map(Made::Value)
}
