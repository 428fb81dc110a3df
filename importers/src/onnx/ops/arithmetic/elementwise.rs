//! Elementwise operators: arithmetic, comparison, logic, bits, selection, conversion of types.

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{Attrs, DType, Operator};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::narrow::{Rounding, of_attribute};
use crate::onnx::narrow_types::Narrow;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

macro_rules! rows {
    ($($onnx:literal => $convert:ident($op:ident)),* $(,)?) => {
        [$(row($onnx, |im, node| $convert(im, node, &ew::$op))),*]
    };
}

/// Operators that relay has too.
pub const SAME: &[Conversion] = &rows! {
    "Abs" => unary(ABS), "Neg" => unary(NEG), "Sign" => unary(SIGN), "Relu" => unary(RELU), "Exp" => unary(EXP),
    "Log" => unary(LOG), "Sqrt" => unary(SQRT), "Reciprocal" => unary(RECIPROCAL), "Sin" => unary(SIN),
    "Cos" => unary(COS), "Tan" => unary(TAN), "Asin" => unary(ASIN), "Acos" => unary(ACOS), "Atan" => unary(ATAN),
    "Sinh" => unary(SINH), "Cosh" => unary(COSH), "Tanh" => unary(TANH), "Asinh" => unary(ASINH),
    "Acosh" => unary(ACOSH), "Atanh" => unary(ATANH), "Erf" => unary(ERF), "Sigmoid" => unary(SIGMOID),
    "Floor" => unary(FLOOR), "Ceil" => unary(CEIL), "Round" => unary(ROUND), "IsNaN" => unary(IS_NAN),
    "Not" => unary(LOGICAL_NOT), "BitwiseNot" => unary(BITWISE_NOT),
    "Add" => binary(ADD), "Sub" => binary(SUB), "Mul" => binary(MUL), "Div" => binary(DIV),
    "Equal" => binary(EQUAL), "Less" => binary(LESS), "LessOrEqual" => binary(LESS_EQUAL),
    "Greater" => binary(GREATER), "GreaterOrEqual" => binary(GREATER_EQUAL), "And" => binary(LOGICAL_AND),
    "Or" => binary(LOGICAL_OR), "Xor" => binary(LOGICAL_XOR), "BitwiseAnd" => binary(BITWISE_AND),
    "BitwiseOr" => binary(BITWISE_OR), "BitwiseXor" => binary(BITWISE_XOR),
    "Max" => variadic(MAXIMUM), "Min" => variadic(MINIMUM), "Sum" => variadic(ADD),
};

pub const ROWS: &[Conversion] = &[
    row("Mean", mean),
    row("Pow", pow),
    row("Mod", modulo),
    row("BitShift", bit_shift),
    row("IsInf", is_inf),
    row("Where", |im, node| Ok(vec![im.select(node.input(0)?, node.input(1)?, node.input(2)?)?])),
    row("Clip", clip),
    row("Cast", |im, node| {
        if node.version < 6 {
            return cast(im, node, To::Type(type_named(node.string("to", "")?)?));
        }
        if let Some(narrow) = of_attribute(node, "to")? {
            return cast(im, node, To::Narrow(narrow));
        }
        let to = node.opt_dtype("to")?.ok_or_else(|| Fault::MissingAttribute { name: "to".into() })?;
        cast(im, node, To::Type(to))
    }),
    row("CastLike", |im, node| {
        let like = node.input(1)?;
        let to = match im.narrow_of(like) {
            Some(narrow) => To::Narrow(narrow),
            None => To::Type(im.dtype(like)?),
        };
        cast(im, node, to)
    }),
    row("BitCast", |im, node| {
        let to = node.opt_dtype("to")?.ok_or_else(|| Fault::MissingAttribute { name: "to".into() })?;
        Ok(vec![im.op(&ew::BITCAST, &[node.input(0)?], Attrs::new().with("dtype", to))?])
    }),
    row("Identity", |_, node| Ok(vec![node.input(0)?])),
    row("Softsign", |im, node| {
        let x = node.input(0)?;
        let size = im.un(&ew::ABS, x)?;
        let below = im.add_f(size, 1.0)?;
        Ok(vec![im.div(x, below)?])
    }),
];

/// What a cast is to.
enum To {
    Type(DType),
    Narrow(&'static Narrow),
}

/// Before version 6 element types have names.
fn type_named(name: &str) -> Result<DType, Fault> {
    const NAMES: [(&str, DType); 13] = [
        ("FLOAT", DType::F32),
        ("DOUBLE", DType::F64),
        ("FLOAT16", DType::F16),
        ("INT8", DType::I8),
        ("INT16", DType::I16),
        ("INT32", DType::I32),
        ("INT64", DType::I64),
        ("UINT8", DType::U8),
        ("UINT16", DType::U16),
        ("UINT32", DType::U32),
        ("UINT64", DType::U64),
        ("BOOL", DType::Bool),
        ("STRING", DType::String),
    ];
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|&(_, dtype)| dtype).ok_or_else(|| Fault::unsupported(format!("a cast to '{name}'")))
}

fn cast(im: &mut Importer, node: &Node, to: To) -> Converted {
    let mut x = node.input(0)?;
    if let Some(narrow) = im.narrow_of(x) {
        x = im.numbers(x, narrow)?;
    }
    Ok(vec![match to {
        To::Type(dtype) => im.cast(x, dtype)?,
        To::Narrow(narrow) => im.narrowed(x, narrow, Rounding::read(node)?)?,
    }])
}

fn unary(im: &mut Importer, node: &Node, op: &'static Operator) -> Converted {
    Ok(vec![im.un(op, node.input(0)?)?])
}

fn binary(im: &mut Importer, node: &Node, op: &'static Operator) -> Converted {
    let (a, b) = operands(im, node)?;
    Ok(vec![im.bin(op, a, b)?])
}

/// The two operands; before version 7 the second was aligned with an axis of the first on request.
fn operands(im: &mut Importer, node: &Node) -> Result<(Value, Value), Fault> {
    let (a, b) = (node.input(0)?, node.input(1)?);
    if node.version >= 7 || !node.flag("broadcast")? {
        return Ok((a, b));
    }
    let Some(axis) = node.opt_int("axis")? else { return Ok((a, b)) };
    let (axis, rank) = (im.axis(a, axis)?, im.rank(b)?);
    let behind = im.rank(a)?.saturating_sub(axis + rank);
    let axes: Vec<i64> = (rank..rank + behind).map(|i| i as i64).collect();
    Ok((a, im.expand_dims(b, &axes)?))
}

fn variadic(im: &mut Importer, node: &Node, op: &'static Operator) -> Converted {
    let inputs = node.all_inputs()?;
    let (first, rest) = inputs.split_first().ok_or(Fault::MissingInput { index: 0 })?;
    let mut result = *first;
    for &next in rest {
        result = im.bin(op, result, next)?;
    }
    Ok(vec![result])
}

fn mean(im: &mut Importer, node: &Node) -> Converted {
    let sum = variadic(im, node, &ew::ADD)?[0];
    let count = im.like(sum, node.inputs.len() as f64)?;
    Ok(vec![im.div(sum, count)?])
}

/// The result has the element type of the base.
fn pow(im: &mut Importer, node: &Node) -> Converted {
    let (x, y) = operands(im, node)?;
    let (base, exponent) = (im.dtype(x)?, im.dtype(y)?);
    if base.is_int() && exponent.is_float() {
        let (x, y) = (im.cast(x, DType::F64)?, im.cast(y, DType::F64)?);
        let power = im.bin(&ew::POW, x, y)?;
        return Ok(vec![im.cast(power, base)?]);
    }
    let y = im.cast(y, base)?;
    Ok(vec![im.bin(&ew::POW, x, y)?])
}

fn modulo(im: &mut Importer, node: &Node) -> Converted {
    let op = if node.flag("fmod")? { &ew::FMOD } else { &ew::MOD };
    binary(im, node, op)
}

fn bit_shift(im: &mut Importer, node: &Node) -> Converted {
    match node.string("direction", "")? {
        "LEFT" => binary(im, node, &ew::SHIFT_LEFT),
        "RIGHT" => binary(im, node, &ew::SHIFT_RIGHT),
        _ => Err(Fault::Attribute { name: "direction".into(), expected: "LEFT or RIGHT" }),
    }
}

fn is_inf(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let result = match (node.int("detect_positive", 1)? != 0, node.int("detect_negative", 1)? != 0) {
        (true, true) => im.un(&ew::IS_INF, x)?,
        (true, false) => im.equal_f(x, f64::INFINITY)?,
        (false, true) => im.equal_f(x, f64::NEG_INFINITY)?,
        (false, false) => im.bin(&ew::LESS, x, x)?,
    };
    Ok(vec![result])
}

/// Bounds are attributes before version 11, then optional scalars.
fn clip(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    if node.version < 11 {
        let least = node.float("min", f64::NEG_INFINITY)?;
        let most = node.float("max", f64::INFINITY)?;
        return Ok(vec![im.clip(x, least, most)?]);
    }
    let constant = |im: &mut Importer, index: usize, none: f64| match node.opt(index) {
        None => Some(none),
        // An f64 holds every value of the narrower types.
        Some(v) => im.constant_of(v).filter(|t| t.len() == 1 && exact(t.dtype())).map(|t| t.f64_at(0)),
    };
    let bounds = (constant(im, 1, f64::NEG_INFINITY), constant(im, 2, f64::INFINITY));
    if let (Some(least), Some(most)) = bounds
        && im.dtype(x)?.is_float()
    {
        return Ok(vec![im.clip(x, least, most)?]);
    }
    let mut result = x;
    if let Some(least) = node.opt(1) {
        let least = scalar(im, least)?;
        result = im.maximum(result, least)?;
    }
    if let Some(most) = node.opt(2) {
        let most = scalar(im, most)?;
        result = im.minimum(result, most)?;
    }
    Ok(vec![result])
}

fn exact(dtype: DType) -> bool {
    !matches!(dtype, DType::I64 | DType::U64)
}

/// A tensor of one element as a scalar.
pub fn scalar(im: &mut Importer, v: Value) -> Made {
    if im.rank(v)? == 0 { Ok(v) } else { im.reshape(v, &[]) }
}
