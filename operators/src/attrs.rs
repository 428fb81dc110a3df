//! Attributes of an operator call, free of MLIR.
//!
//! An attribute is one of seven kinds, each with one form in MLIR:
//! `Int` (`i64`), `Float` (`f64`), `Bool` (`i1`), `Str`, `Ints` (`array<i64>`),
//! `Floats` (`array<f64>`), `Type` (an element type).

use crate::DType;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Attr {
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Type(DType),
}

macro_rules! from {
    ($($t:ty => $v:ident),*) => { $(impl From<$t> for Attr {
        fn from(value: $t) -> Self { Attr::$v(value.into()) }
    })* };
}
from!(i64 => Int, f64 => Float, bool => Bool, &str => Str, String => Str, Vec<i64> => Ints, Vec<f64> => Floats, DType => Type);

impl From<&[i64]> for Attr {
    fn from(value: &[i64]) -> Self {
        Attr::Ints(value.to_vec())
    }
}

impl<const N: usize> From<[i64; N]> for Attr {
    fn from(value: [i64; N]) -> Self {
        Attr::Ints(value.to_vec())
    }
}

/// The attributes of one call, in the order they were given. A missing attribute reads as its
/// default, which the reader names, so that rows and the dialect's ODS agree in one place each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attrs(IndexMap<String, Attr>);

impl Attrs {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute; for building in one expression.
    pub fn with(mut self, name: &str, value: impl Into<Attr>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: &str, value: impl Into<Attr>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The attribute of that name.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.get(name)
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All attributes in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attr)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// An integer, or the default.
    pub fn int_or(&self, name: &str, default: i64) -> i64 {
        match self.get(name) {
            Some(Attr::Int(v)) => *v,
            _ => default,
        }
    }

    /// A float, or the default.
    pub fn float_or(&self, name: &str, default: f64) -> f64 {
        match self.get(name) {
            Some(Attr::Float(v)) => *v,
            _ => default,
        }
    }

    /// A boolean, or false.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Attr::Bool(true)))
    }

    /// A string, or the default.
    pub fn str_or<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        match self.get(name) {
            Some(Attr::Str(v)) => v,
            _ => default,
        }
    }

    /// A list of integers, when present.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.get(name) {
            Some(Attr::Ints(v)) => Some(v),
            _ => None,
        }
    }

    /// A list of floats, when present.
    pub fn floats(&self, name: &str) -> Option<&[f64]> {
        match self.get(name) {
            Some(Attr::Floats(v)) => Some(v),
            _ => None,
        }
    }

    /// An element type, when present.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        match self.get(name) {
            Some(Attr::Type(v)) => Some(*v),
            _ => None,
        }
    }
}
