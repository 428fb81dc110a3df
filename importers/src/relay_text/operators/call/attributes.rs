//! The attributes of a call, as what an operator takes them to be.

use super::Call;
use crate::relay_text::elements::element_type;
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::AttributeValue;
use fusion_operators::{Attr, DType};

impl<'c> Call<'_, 'c, '_> {
    /// No attributes but those.
    pub fn only(&self, known: &dyn Fn(&str) -> bool) -> Outcome<()> {
        match self.attributes.iter().find(|attribute| !known(&attribute.name.text)) {
            Some(attribute) => Fault::new(
                attribute.span,
                format!("{} has no attribute {} here", self.name, attribute.name.text),
            ),
            None => Ok(()),
        }
    }

    /// What was written; `None` for nothing and for `None`.
    pub fn written(&self, name: &str) -> Option<&AttributeValue> {
        let found = self.attributes.iter().find(|attribute| attribute.name.text == name)?;
        Some(&found.value).filter(|value| **value != AttributeValue::None)
    }

    fn wrong<T>(&self, name: &str, expected: &str) -> Outcome<T> {
        let found = self.attributes.iter().find(|attribute| attribute.name.text == name);
        let span = found.map_or(self.span, |attribute| attribute.span);
        Fault::new(span, format!("{}: the attribute {name} must be {expected}", self.name))
    }

    pub fn maybe_int(&self, name: &str) -> Outcome<Option<i64>> {
        match self.written(name) {
            None => Ok(None),
            Some(AttributeValue::Int(value)) => Ok(Some(*value)),
            Some(AttributeValue::Bool(value)) => Ok(Some((*value).into())),
            Some(_) => self.wrong(name, "an integer"),
        }
    }

    pub fn int(&self, name: &str, default: i64) -> Outcome<i64> {
        Ok(self.maybe_int(name)?.unwrap_or(default))
    }

    pub fn maybe_float(&self, name: &str) -> Outcome<Option<f64>> {
        match self.written(name) {
            None => Ok(None),
            Some(AttributeValue::Float(value)) => Ok(Some(*value)),
            Some(AttributeValue::Int(value)) => Ok(Some(*value as f64)),
            Some(_) => self.wrong(name, "a number"),
        }
    }

    pub fn float(&self, name: &str, default: f64) -> Outcome<f64> {
        Ok(self.maybe_float(name)?.unwrap_or(default))
    }

    pub fn maybe_flag(&self, name: &str) -> Outcome<Option<bool>> {
        match self.written(name) {
            None => Ok(None),
            Some(AttributeValue::Bool(value)) => Ok(Some(*value)),
            Some(AttributeValue::Int(value @ (0 | 1))) => Ok(Some(*value == 1)),
            Some(_) => self.wrong(name, "True or False"),
        }
    }

    pub fn flag(&self, name: &str, default: bool) -> Outcome<bool> {
        Ok(self.maybe_flag(name)?.unwrap_or(default))
    }

    /// Integers, of which a single one may stand without brackets.
    pub fn maybe_ints(&self, name: &str) -> Outcome<Option<Vec<i64>>> {
        let ints = match self.written(name) {
            None => return Ok(None),
            Some(AttributeValue::Int(value)) => Some(vec![*value]),
            Some(value) => ints(value),
        };
        match ints {
            Some(ints) => Ok(Some(ints)),
            None => self.wrong(name, "a list of integers"),
        }
    }

    pub fn ints(&self, name: &str) -> Outcome<Vec<i64>> {
        match self.maybe_ints(name)? {
            Some(ints) => Ok(ints),
            None => self.fault(format!("the attribute {name} is missing")),
        }
    }

    /// Numbers, of which a single one may stand without brackets.
    pub fn floats(&self, name: &str, default: &[f64]) -> Outcome<Vec<f64>> {
        let number = |value: &AttributeValue| match value {
            AttributeValue::Int(value) => Some(*value as f64),
            AttributeValue::Float(value) => Some(*value),
            _ => None,
        };
        let found = match self.written(name) {
            None => return Ok(default.to_vec()),
            Some(AttributeValue::List(values)) => values.iter().map(number).collect::<Option<Vec<_>>>(),
            Some(value) => number(value).map(|number| vec![number]),
        };
        found.map_or_else(|| self.wrong(name, "a list of numbers"), Ok)
    }

    /// Lists of integers.
    pub fn lists(&self, name: &str) -> Outcome<Vec<Vec<i64>>> {
        let lists = match self.written(name) {
            Some(AttributeValue::List(lists)) => lists.iter().map(ints).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        lists.map_or_else(|| self.wrong(name, "a list of lists of integers"), Ok)
    }

    pub fn text(&self, name: &str, default: &'static str) -> Outcome<&str> {
        match self.written(name) {
            None => Ok(default),
            Some(AttributeValue::Text(text) | AttributeValue::Word(text)) => Ok(text),
            Some(_) => self.wrong(name, "a text in quotes"),
        }
    }

    /// An element type; an empty text says nothing.
    pub fn maybe_element(&self, name: &str) -> Outcome<Option<DType>> {
        match self.text(name, "")? {
            "" => Ok(None),
            text => match element_type(text) {
                Some(dtype) => Ok(Some(dtype)),
                None => self.wrong(name, "an element type such as \"float32\""),
            },
        }
    }

    /// An option of which only some values are supported.
    pub fn require(&self, name: &str, default: &'static str, supported: &[&str]) -> Outcome<()> {
        let found = self.text(name, default)?;
        if found.is_empty() || supported.contains(&found) {
            return Ok(());
        }
        let list: Vec<String> = supported.iter().map(|text| format!("{text:?}")).collect();
        self.wrong(name, &format!("{} (others are not supported), found {found:?}", list.join(" or ")))
    }

    /// The value of an attribute of one of our rows.
    pub(super) fn own_value(&self, name: &str, value: &AttributeValue) -> Option<Attr> {
        Some(match value {
            AttributeValue::Int(value) => Attr::Int(*value),
            AttributeValue::Float(value) => Attr::Float(*value),
            AttributeValue::Bool(value) => Attr::Bool(*value),
            AttributeValue::Text(text) | AttributeValue::Word(text) if name == "dtype" => {
                Attr::Type(element_type(text)?)
            }
            AttributeValue::Text(text) | AttributeValue::Word(text) => Attr::Str(text.clone()),
            AttributeValue::List(_) => match ints(value) {
                Some(ints) => Attr::Ints(ints),
                None => Attr::Floats(floats(value)?),
            },
            AttributeValue::Other | AttributeValue::None => return None,
        })
    }
}

fn ints(value: &AttributeValue) -> Option<Vec<i64>> {
    let AttributeValue::List(values) = value else { return None };
    let int = |value: &AttributeValue| match value {
        AttributeValue::Int(value) => Some(*value),
        _ => None,
    };
    values.iter().map(int).collect()
}

fn floats(value: &AttributeValue) -> Option<Vec<f64>> {
    let AttributeValue::List(values) = value else { return None };
    let float = |value: &AttributeValue| match value {
        AttributeValue::Float(value) => Some(*value),
        _ => None,
    };
    values.iter().map(float).collect()
}
