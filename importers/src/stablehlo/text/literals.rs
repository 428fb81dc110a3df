//! Constants from their text: `dense<[[1, 2], [3, 4]]>`, `dense<0xFF800000>`, `dense<"0x0000...">`, `array<i64: 1, 2>`.

use crate::stablehlo::graph::{Attr, Dense};
use crate::stablehlo::types::{Element, Type};
use fusion_operators::tensor::{push_f64, push_int};
use fusion_operators::{DType, Tensor};
use std::rc::Rc;

/// No larger constant is read.
const MOST_ELEMENTS: u64 = 1 << 32;

/// A constant of a type: the text between `dense<` and `>`.
pub fn dense(body: &str, ty: &Type) -> Result<Attr, String> {
    let unsupported = || format!("a constant of type {ty} is not supported");
    let tensor = ty.tensor().ok_or_else(unsupported)?;
    let count = ty.elements().filter(|&n| n <= MOST_ELEMENTS);
    let count = count.ok_or_else(|| format!("a constant of type {ty} is too large, or of no known size"))?;
    let dtype = tensor.element.kept().ok_or_else(unsupported)?;
    let complex = matches!(tensor.element, Element::Complex(_));
    let body = body.trim();
    let hex = body.strip_prefix("\"0x").and_then(|t| t.strip_suffix('"'));
    let bytes = match hex {
        Some(digits) => raw(digits, dtype, count * if complex { 2 } else { 1 })?,
        None => listed(body, dtype)?,
    };
    from_bytes(ty, bytes)
}

/// A constant of a type from its bytes, in which parts of complex numbers alternate; those of one element are a splat.
pub fn from_bytes(ty: &Type, bytes: Vec<u8>) -> Result<Attr, String> {
    let unsupported = || format!("a constant of type {ty} is not supported");
    let tensor = ty.tensor().ok_or_else(unsupported)?;
    let dtype = tensor.element.kept().ok_or_else(unsupported)?;
    let complex = matches!(tensor.element, Element::Complex(_));
    let (count, parts) = (ty.elements().ok_or_else(unsupported)?, if complex { 2 } else { 1 });
    let given = (bytes.len() / dtype.size() / parts) as u64;
    let splat = given == 1 && count != 1;
    if given != count && !splat {
        return Err(format!("a constant of type {ty} has {given} elements, expected {count}"));
    }
    let shape: Vec<usize> = match splat {
        true => Vec::new(),
        false => tensor.dims.iter().map(|dim| dim.unwrap_or(0) as usize).collect(),
    };
    let failed = |error: fusion_operators::TensorError| error.to_string();
    let parts = match complex {
        false => vec![Tensor::from_bytes(dtype, &shape, bytes).map_err(failed)?],
        true => {
            let part = |which: usize| -> Vec<u8> {
                bytes
                    .chunks_exact(2 * dtype.size())
                    .flat_map(|c| &c[which * dtype.size()..][..dtype.size()])
                    .copied()
                    .collect()
            };
            let whole = |which| Tensor::from_bytes(dtype, &shape, part(which)).map_err(failed);
            vec![whole(0)?, whole(1)?]
        }
    };
    Ok(Attr::Dense(Rc::new(Dense { ty: ty.clone(), parts, splat })))
}

/// Little-endian bytes in hexadecimal digits.
fn raw(digits: &str, dtype: DType, count: u64) -> Result<Vec<u8>, String> {
    let digits = digits.as_bytes();
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    let byte = |pair: &[u8]| Some(16 * digit(pair[0])? + digit(*pair.get(1)?)?);
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let bytes = bytes.ok_or("a constant in hexadecimal digits has something else than pairs of these")?;
    Ok(match dtype {
        DType::Bool => booleans(&bytes, count),
        _ => bytes,
    })
}

/// Booleans that are kept as bits, or as bytes.
pub fn booleans(bytes: &[u8], count: u64) -> Vec<u8> {
    let packed = count.div_ceil(8) == bytes.len() as u64;
    match packed {
        false => bytes.iter().map(|&b| u8::from(b != 0)).collect(),
        // Of one byte, all ones is a splat of true.
        true if bytes.len() == 1 && (bytes[0] == 0xff || bytes[0] == 0) => vec![bytes[0] & 1],
        true => (0..count as usize).map(|i| bytes[i / 8] >> (i % 8) & 1).collect(),
    }
}

/// Elements in brackets; of complex numbers both parts.
fn listed(body: &str, dtype: DType) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let words =
        body.split(|c: char| c.is_whitespace() || "[](),".contains(c)).filter(|word| !word.is_empty());
    for word in words {
        number(&mut bytes, dtype, word).ok_or_else(|| format!("{word} is no element of type {dtype}"))?;
    }
    Ok(bytes)
}

/// One number: as it is written, or by its bits in hexadecimal digits.
fn number(bytes: &mut Vec<u8>, dtype: DType, word: &str) -> Option<()> {
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let bits = match unsigned.strip_prefix("0x") {
        Some(digits) => Some(u64::from_str_radix(digits, 16).ok()?),
        None => None,
    };
    match (dtype, word) {
        (DType::Bool, "true") => bytes.push(1),
        (DType::Bool, "false") => bytes.push(0),
        _ if dtype.is_float() => match bits {
            // The bits of the float.
            Some(bits) => bytes.extend(&bits.to_le_bytes()[..dtype.size()]),
            None => push_f64(bytes, dtype, word.parse().ok()?),
        },
        _ => match bits {
            Some(bits) => {
                push_int(bytes, dtype, if word.starts_with('-') { -i128::from(bits) } else { bits.into() })
            }
            None => push_int(bytes, dtype, word.parse().ok()?),
        },
    }
    Some(())
}

/// `array<i64: 1, 2>`, `array<i1: true, false>`.
pub fn array(text: &str) -> Option<Attr> {
    let inner = text.strip_prefix("array")?.trim().strip_prefix('<')?.strip_suffix('>')?;
    let numbers = inner.split_once(':').map_or("", |(_, numbers)| numbers);
    let one = |word: &str| match word {
        "true" => Some(Attr::Bool(true)),
        "false" => Some(Attr::Bool(false)),
        _ => word.parse().map(Attr::Int).ok().or_else(|| word.parse().map(Attr::Float).ok()),
    };
    let words = numbers.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(one).collect::<Option<_>>().map(Attr::List)
}

/// A number by itself.
pub fn scalar(text: &str) -> Option<Attr> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        let n = i128::from(u64::from_str_radix(hex, 16).ok()?);
        return Some(Attr::Int(if negative { -n } else { n }));
    }
    text.parse().map(Attr::Int).ok().or_else(|| text.parse().map(Attr::Float).ok())
}

/// A text in quotes without them.
pub fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(a) if a.is_ascii_hexdigit() => {
                let pair: String = std::iter::once(a).chain(chars.next()).collect();
                out.push(u8::from_str_radix(&pair, 16).map_or('?', char::from));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
