//! Functions of elements, comparisons, choices and conversions.

use super::{Exporter, Row};
use fusion_operators::ops::elementwise as e;
use fusion_operators::{Attr, Attrs, Call, DType, Tensor, TensorType, ops, reference};

/// A row of an operator that ONNX has by another name and nothing else.
macro_rules! same {
    ($($op:ident $name:literal),* $(,)?) => {
        &[$((&e::$op, |x, _, operands, _| {
            let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
            Some(x.node($name, &operands, &[]))
        }),)*
        (&e::RSQRT, |x, call, operands, result| x.in_f32(call, operands, result, rsqrt)),
        (&e::NOT_EQUAL, |x, _, operands, _| {
            let equal = x.node("Equal", &[&operands[0], &operands[1]], &[]);
            Some(x.node("Not", &[&equal], &[]))
        }),
        (&e::MOD, |x, call, operands, _| modulo(x, call, operands, false)),
        (&e::FMOD, |x, call, operands, _| modulo(x, call, operands, true)),
        (&e::SHIFT_LEFT, |x, call, operands, _| shift(x, call, operands, "LEFT")),
        (&e::SHIFT_RIGHT, |x, call, operands, _| shift(x, call, operands, "RIGHT")),
        (&e::CAST, cast),
        (&e::CLIP, clip),
        (&ops::quantization::SIMULATED_QUANTIZE, |x, call, operands, result| {
            x.in_f32(call, operands, result, simulated_quantize)
        })]
    };
}

pub const ROWS: &[Row] = same![
    ABS "Abs", NEG "Neg", SIGN "Sign", RELU "Relu", EXP "Exp", LOG "Log", SQRT "Sqrt", RECIPROCAL "Reciprocal", SIN "Sin", COS "Cos", TAN "Tan",
    ASIN "Asin", ACOS "Acos", ATAN "Atan", SINH "Sinh", COSH "Cosh", TANH "Tanh", ASINH "Asinh", ACOSH "Acosh", ATANH "Atanh", ERF "Erf",
    SIGMOID "Sigmoid", FLOOR "Floor", CEIL "Ceil", ROUND "Round", IS_NAN "IsNaN", IS_INF "IsInf", LOGICAL_NOT "Not", BITWISE_NOT "BitwiseNot",
    ADD "Add", SUB "Sub", MUL "Mul", DIV "Div", POW "Pow", MINIMUM "Min", MAXIMUM "Max", EQUAL "Equal", LESS "Less", LESS_EQUAL "LessOrEqual",
    GREATER "Greater", GREATER_EQUAL "GreaterOrEqual", LOGICAL_AND "And", LOGICAL_OR "Or", LOGICAL_XOR "Xor", BITWISE_AND "BitwiseAnd",
    BITWISE_OR "BitwiseOr", BITWISE_XOR "BitwiseXor", WHERE "Where",
];

fn rsqrt(x: &mut Exporter, _: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let root = x.node("Sqrt", &[&operands[0]], &[]);
    Some(x.node("Reciprocal", &[&root], &[]))
}

/// ONNX has the remainder with the sign of the divisor of integers alone.
fn modulo(x: &mut Exporter, call: &Call, operands: &[String], fmod: bool) -> Option<String> {
    let fits = fmod || call.operands[0].dtype.is_int();
    fits.then(|| x.node("Mod", &[&operands[0], &operands[1]], &[("fmod", fmod.into())]))
}

/// ONNX shifts unsigned integers.
fn shift(x: &mut Exporter, call: &Call, operands: &[String], direction: &str) -> Option<String> {
    let fits = matches!(call.operands[0].dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
    fits.then(|| x.node("BitShift", &[&operands[0], &operands[1]], &[("direction", direction.into())]))
}

/// Where a float is none of the integers, ONNX leaves the result open; here it is the nearest of them, so that it is clipped before.
fn cast(x: &mut Exporter, call: &Call, operands: &[String], result: &TensorType) -> Option<String> {
    let (from, to) = (call.operands[0].dtype, result.dtype);
    let mut value = operands[0].clone();
    if from.is_float() && to.is_int() {
        let [least, most] = [f64::NEG_INFINITY, f64::INFINITY].map(|end| saturated(to, end));
        let (least, most) = (x.number(from, least?.f64_at(0))?, x.number(from, most?.f64_at(0))?);
        value = x.node("Clip", &[&value, &least, &most], &[]);
    }
    Some(x.cast(&value, from, to))
}

/// The number of an element type that is nearest to a float, by the semantics of a cast.
pub fn saturated(dtype: DType, number: f64) -> Option<Tensor> {
    let number = Tensor::from_slice(&[], &[number]).ok()?;
    let results = reference::evaluate(&e::CAST, &Attrs::new().with("dtype", dtype), &[number]).ok()?;
    results.into_iter().next()
}

/// Bounds are numbers of the element type. Truths have none in ONNX.
fn clip(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    if call.operands[0].dtype == DType::Bool {
        return None;
    }
    let mut bound = |name: &str| match call.attrs.get(name) {
        Some(Attr::Float(value)) => Some(x.constant(&saturated(call.operands[0].dtype, *value)?)),
        _ => Some(String::new()),
    };
    let (least, most) = (bound("min")?, bound("max")?);
    Some(x.node("Clip", &[&operands[0], &least, &most], &[]))
}

/// As its own formula; a scale of 0 leaves the element as it is.
fn simulated_quantize(x: &mut Exporter, call: &Call, operands: &[String], _: &TensorType) -> Option<String> {
    let [data, scale, zero, least, most] = operands else { return None };
    let over = x.node("Div", &[data, scale], &[]);
    let rounded = x.node("Round", &[&over], &[]);
    let moved = x.node("Add", &[&rounded, zero], &[]);
    let above = x.node("Max", &[&moved, least], &[]);
    let within = x.node("Min", &[&above, most], &[]);
    let back = x.node("Sub", &[&within, zero], &[]);
    let scaled = x.node("Mul", &[&back, scale], &[]);
    let nothing = x.number(call.operands[0].dtype, 0.0)?;
    let unscaled = x.node("Equal", &[scale, &nothing], &[]);
    Some(x.node("Where", &[&unscaled, data, &scaled], &[]))
}

/// What a call without operands gives, as a constant.
pub fn evaluated(x: &mut Exporter, call: &Call, _: &[String], _: &TensorType) -> Option<String> {
    let results = reference::evaluate(call.op, call.attrs, &[]).ok()?;
    Some(x.constant(results.first()?))
}
