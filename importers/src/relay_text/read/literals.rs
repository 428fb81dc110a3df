//! Numbers, texts and the values of attributes.
//!
//! ```text
//!   1   i32      1i64  i64      1f  f32      1.5f64  f64      inff  -inff
//! ```
//! An integer without suffix that does not fit i32 is i64, as in TVM. A number with a point or an exponent needs no
//! suffix: it is f32.

use super::{Node, Reader, Rule};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{AttributeValue, Span};
use fusion_operators::{DType, Tensor};

/// A number, taken apart.
struct Number<'a> {
    digits: &'a str,
    negative: bool,
    suffix: Option<(char, &'a str)>,
}

fn number(text: &str) -> Number<'_> {
    let digits = text.trim_start_matches('-');
    let negative = (text.len() - digits.len()) % 2 == 1;
    if let Some(width) = digits.strip_prefix("inff") {
        return Number { digits: "inf", negative, suffix: Some(('f', width)) };
    }
    match digits.find(['f', 'i']) {
        Some(at) => {
            let kind = if digits.as_bytes()[at] == b'f' { 'f' } else { 'i' };
            Number { digits: &digits[..at], negative, suffix: Some((kind, &digits[at + 1..])) }
        }
        None => Number { digits, negative, suffix: None },
    }
}

impl Number<'_> {
    fn is_float(&self) -> bool {
        match self.suffix {
            Some((kind, _)) => kind == 'f',
            None => self.digits.contains(['.', 'e', 'E']),
        }
    }

    fn float(&self) -> Option<f64> {
        let value: f64 = self.digits.parse().ok()?;
        Some(if self.negative { -value } else { value })
    }

    fn int(&self) -> Option<i64> {
        let value: i128 = self.digits.parse().ok()?;
        i64::try_from(if self.negative { -value } else { value }).ok()
    }
}

impl Reader {
    /// A scalar.
    pub(super) fn scalar(&self, node: &Node) -> Outcome<Tensor> {
        let span = self.span(node);
        let text = node.as_str();
        let number = number(text);
        let width = match number.suffix {
            Some((_, "")) | None => None,
            Some((_, width)) => Some(width),
        };
        let wrong = || {
            Fault::boxed(
                span,
                format!("the number {text} is not one of its type; write 1, 1i64, 1f or 1.5f64"),
            )
        };
        if number.is_float() {
            let dtype = match width {
                None | Some("32") => DType::F32,
                Some("16") => DType::F16,
                Some("64") => DType::F64,
                Some(_) => return Err(wrong()),
            };
            let value = number.float().ok_or_else(wrong)?;
            // As in TVM, no written number becomes an infinite one.
            let fits = match dtype {
                DType::F16 => value.abs() <= 65504.0,
                DType::F32 => number.digits.parse::<f32>().is_ok_and(f32::is_finite),
                _ => value.is_finite(),
            };
            if number.digits != "inf" && !fits {
                return Fault::new(span, format!("the number {text} is out of range for its type"));
            }
            // Straight from the digits: over f64 the number would be rounded twice.
            if dtype == DType::F32
                && let Ok(value) = number.digits.parse::<f32>()
            {
                let value = if number.negative { -value } else { value };
                return Tensor::from_slice(&[], &[value]).map_err(|e| Fault::boxed(span, e.to_string()));
            }
            return Tensor::from_f64s(dtype, &[], &[value]).map_err(|e| Fault::boxed(span, e.to_string()));
        }
        let value = number.int().ok_or_else(wrong)?;
        let fits = |least: i64, most: i64| (least..=most).contains(&value);
        let dtype = match width {
            None if fits(i32::MIN.into(), i32::MAX.into()) => DType::I32,
            None | Some("64") => DType::I64,
            Some("32") if fits(i32::MIN.into(), i32::MAX.into()) => DType::I32,
            Some("16") if fits(i16::MIN.into(), i16::MAX.into()) => DType::I16,
            Some("8") if fits(i8::MIN.into(), i8::MAX.into()) => DType::I8,
            Some(_) => return Err(wrong()),
        };
        Tensor::from_ints(dtype, &[], &[value.into()]).map_err(|e| Fault::boxed(span, e.to_string()))
    }

    /// A text without its quotes.
    pub(super) fn text(&self, node: &Node) -> String {
        let inside = node.as_str().trim_end();
        let inside = inside.get(1..inside.len().saturating_sub(1)).unwrap_or_default();
        let mut text = String::with_capacity(inside.len());
        let mut characters = inside.chars();
        while let Some(c) = characters.next() {
            text.push(match c {
                '\\' => match characters.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some(other) => other,
                    None => '\\',
                },
                c => c,
            });
        }
        text
    }

    pub(super) fn attribute_value(&self, node: Node) -> Outcome<AttributeValue> {
        let span = self.span(&node);
        let inner = node.into_inner().next().ok_or_else(|| Fault::boxed(span, "an attribute has a value"))?;
        Ok(match inner.as_rule() {
            Rule::number => attribute_number(inner.as_str(), span)?,
            Rule::boolean => AttributeValue::Bool(inner.as_str() == "True"),
            Rule::string => AttributeValue::Text(self.text(&inner)),
            Rule::attribute_list => AttributeValue::List(self.attribute_values(inner)?),
            Rule::attribute_paren => {
                let mut values = self.attribute_values(inner)?;
                // As in TVM, parentheses around one value only group.
                if values.len() == 1 { values.swap_remove(0) } else { AttributeValue::List(values) }
            }
            // What tells TVM's passes something, such as meta[VirtualDevice][0]; no operator takes it as a number.
            Rule::meta | Rule::attribute_map => AttributeValue::Other,
            _ if matches!(inner.as_str(), "None" | "nullptr") => AttributeValue::None,
            _ => AttributeValue::Word(inner.as_str().to_owned()),
        })
    }

    fn attribute_values(&self, node: Node) -> Outcome<Vec<AttributeValue>> {
        node.into_inner().map(|value| self.attribute_value(value)).collect()
    }
}

fn attribute_number(text: &str, span: Span) -> Outcome<AttributeValue> {
    let number = number(text);
    let value = match number.is_float() {
        true => number.float().map(AttributeValue::Float),
        false => number.int().map(AttributeValue::Int),
    };
    value.ok_or_else(|| Fault::boxed(span, format!("the number {text} is out of range")))
}
