//! Types from their text: `tensor<2x?x!quant.uniform<i8:f32, 0.5:3>>`.

use crate::stablehlo::types::{Element, Quantized, TensorTy, Type};
use fusion_operators::DType;
use std::rc::Rc;

/// The type that `tensor<...>` names.
pub fn tensor(text: &str) -> Result<Type, String> {
    let inner =
        text.strip_prefix("tensor").map(str::trim).and_then(|t| t.strip_prefix('<')?.strip_suffix('>'));
    let Some(mut rest) = inner.map(str::trim) else { return Err(format!("{text} is no tensor type")) };
    let mut dims = Vec::new();
    if rest.starts_with('*') {
        return Err(format!("{text} has no rank; only ranked tensors are supported"));
    }
    // An extent is a number or ?, with an x behind it.
    while let Some((extent, after)) = rest.split_once('x') {
        let extent = extent.trim();
        if extent == "?" {
            dims.push(None);
        } else if let Ok(n) = extent.parse::<u64>() {
            if n > i64::MAX as u64 {
                return Err(format!("the extent {n} in {text} is too large"));
            }
            dims.push(Some(n));
        } else {
            break;
        }
        rest = after.trim_start();
    }
    let element = element(before_comma(rest).trim())?;
    Ok(Type::Tensor(TensorTy { dims, element }))
}

/// What stands before a comma outside of brackets.
fn before_comma(text: &str) -> &str {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '{' | '[' | '(' => depth += 1,
            '>' | '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

/// The type of an element from its text.
pub fn element(text: &str) -> Result<Element, String> {
    if let Some(part) = text.strip_prefix("complex<").and_then(|t| t.strip_suffix('>')) {
        return match element(part.trim())? {
            Element::Plain(dtype @ (DType::F32 | DType::F64)) => Ok(Element::Complex(dtype)),
            _ => Err(format!("{text} is no element type; complex<f32> and complex<f64> are")),
        };
    }
    if let Some(inner) = text.strip_prefix("!quant.uniform<").and_then(|t| t.strip_suffix('>')) {
        return quantized(inner).ok_or_else(|| format!("{text} is no quantized type that is known"));
    }
    Ok(scalar(text).unwrap_or_else(|| Element::Other(text.to_owned())))
}

/// The type of a scalar that relay keeps.
pub fn scalar(text: &str) -> Option<Element> {
    if let Ok(dtype) = text.parse() {
        return Some(Element::Plain(dtype));
    }
    if text == "index" {
        return Some(Element::Plain(DType::I64));
    }
    let signed = text.starts_with('i') || text.starts_with("si");
    match text.trim_start_matches(['s', 'u', 'i']).parse().ok()? {
        bits @ (2 | 4) => Some(Element::Narrow { bits, signed }),
        8 if text == "si8" => Some(Element::Plain(DType::I8)),
        _ => None,
    }
}

/// `i8<-128:127>:f32:AXIS, {SCALE:ZERO, ...}` or `i8:f32, SCALE:ZERO`.
fn quantized(text: &str) -> Option<Element> {
    let (types, parameters) = text.split_once(',')?;
    let (types, bounds) = match types.split_once('<') {
        None => (types.to_owned(), None),
        Some((before, after)) => {
            let (bounds, behind) = after.split_once('>')?;
            let (least, most) = bounds.split_once(':')?;
            (format!("{before}{behind}"), Some((least.trim().parse().ok()?, most.trim().parse().ok()?)))
        }
    };
    let mut parts = types.split(':').map(str::trim);
    let storage = scalar(parts.next()?)?;
    let Element::Plain(expressed) = scalar(parts.next()?)? else { return None };
    let axis = match parts.next() {
        None => None,
        Some(axis) => Some(axis.parse().ok()?),
    };
    let parameters = parameters.trim().trim_start_matches('{').trim_end_matches('}');
    let (mut scales, mut zeros) = (Vec::new(), Vec::new());
    for one in parameters.split(',') {
        let (scale, zero) = one.split_once(':').unwrap_or((one, "0"));
        scales.push(scale.trim().parse().ok()?);
        zeros.push(zero.trim().parse().ok()?);
    }
    let range = bounds.or_else(|| range_of(&storage))?;
    Some(Element::Quantized(Rc::new(Quantized { storage, expressed, axis, scales, zeros, range })))
}

/// The least and the greatest integer of a type.
pub fn range_of(storage: &Element) -> Option<(i64, i64)> {
    let (bits, signed) = match storage {
        Element::Narrow { bits, signed } => (*bits, *signed),
        Element::Plain(dtype) if dtype.is_int() && dtype.size() < 8 => {
            (8 * dtype.size() as u32, dtype.class() == fusion_operators::dtype::Class::Signed)
        }
        _ => return None,
    };
    Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
}
