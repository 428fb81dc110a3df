//! Scalars and the values of attributes.

use crate::relay_text::elements::element_name;
use fusion_operators::{Attr, DType, Tensor};

/// A number as the language writes it; `None` for what has no such form.
pub fn scalar(tensor: &Tensor) -> Option<String> {
    if !tensor.shape().is_empty() {
        return None;
    }
    let int = || tensor.int_at(0);
    Some(match tensor.dtype() {
        DType::Bool => truth(int() != 0),
        DType::I32 => int().to_string(),
        DType::I64 => format!("{}i64", int()),
        DType::I16 => format!("{}i16", int()),
        DType::I8 => format!("{}i8", int()),
        DType::F32 => {
            let value = tensor.to_vec::<f32>()?[0];
            float(value.into(), "f", || exponential(format!("{value:e}"), value.to_string()))?
        }
        DType::F64 => wide(tensor.f64_at(0))?,
        DType::F16 => {
            let value = tensor.f64_at(0);
            float(value, "f16", || exponential(format!("{value:e}"), value.to_string()))?
        }
        DType::BF16 | DType::String | DType::U8 | DType::U16 | DType::U32 | DType::U64 => return None,
    })
}

fn truth(value: bool) -> String {
    let text = if value { "True" } else { "False" };
    text.to_owned()
}

fn wide(value: f64) -> Option<String> {
    float(value, "f64", || exponential(format!("{value:e}"), value.to_string()))
}

/// The shorter of two spellings.
fn exponential(exponential: String, plain: String) -> String {
    if exponential.len() < plain.len() { exponential } else { plain }
}

fn float(value: f64, suffix: &str, digits: impl FnOnce() -> String) -> Option<String> {
    if value.is_nan() {
        return None;
    }
    if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return Some(format!("{sign}inf{suffix}"));
    }
    Some(format!("{}{suffix}", digits()))
}

/// An attribute's value; `None` for what has no form.
pub fn attribute(value: &Attr) -> Option<String> {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    Some(match value {
        Attr::Int(value) => value.to_string(),
        Attr::Float(value) => wide(*value)?,
        Attr::Bool(value) => truth(*value),
        Attr::Str(text) => quoted(text),
        Attr::Ints(values) => list(values.iter().map(i64::to_string).collect()),
        // An empty list reads as one of integers.
        Attr::Floats(values) if values.is_empty() => return None,
        Attr::Floats(values) => list(values.iter().map(|value| wide(*value)).collect::<Option<_>>()?),
        // Relay's text writes numbers only.
        Attr::Dim(_) | Attr::Dims(_) => return None,
        Attr::Type(dtype) => quoted(element_name(*dtype)),
    })
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
