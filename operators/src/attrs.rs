//! Attributes of an operator call, free of MLIR.
//!
//! An attribute is one of nine kinds, each with one form in MLIR:
//! `Int` (`i64`), `Float` (`f64`), `Bool` (`i1`), `Str`, `Ints` (`array<i64>`),
//! `Floats` (`array<f64>`), `Type` (an element type), `Dim` (`#relay.dim`: an extent
//! that is known at run time only), `Dims` (`#relay.dims`: extents, of which some are).

use crate::{DType, Dim};
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
    Dim(Dim),
    Dims(Vec<Dim>),
}

macro_rules! from {
    ($($t:ty => $v:ident),*) => { $(impl From<$t> for Attr {
        fn from(value: $t) -> Self { Attr::$v(value.into()) }
    })* };
}
from!(i64 => Int, f64 => Float, bool => Bool, &str => Str, String => Str, Vec<i64> => Ints, Vec<f64> => Floats, DType => Type, Dim => Dim, Vec<Dim> => Dims);

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

    /// A list of extents, when present: numbers, of which those below 0 are `?`, or names and expressions.
    pub fn dims(&self, name: &str) -> Option<Vec<Dim>> {
        match self.get(name)? {
            Attr::Ints(v) => {
                Some(v.iter().map(|&n| u64::try_from(n).map_or(Dim::Any, Dim::Static)).collect())
            }
            Attr::Dims(v) => Some(v.clone()),
            _ => None,
        }
    }

    /// An extent, when present: a number, of which one below 0 is `?`, or a name or an expression.
    pub fn dim(&self, name: &str) -> Option<Dim> {
        match self.get(name)? {
            Attr::Int(n) => Some(u64::try_from(*n).map_or(Dim::Any, Dim::Static)),
            Attr::Dim(v) => Some(v.clone()),
            _ => None,
        }
    }

    /// Sets an attribute that is an extent: a number where it is known.
    pub fn set_dim(&mut self, name: &str, dim: Dim) {
        match dim.known().and_then(|n| i64::try_from(n).ok()) {
            Some(number) => self.set(name, number),
            None => self.set(name, dim),
        }
    }

    /// Sets an attribute of extents: numbers where all are known.
    pub fn set_dims(&mut self, name: &str, dims: Vec<Dim>) {
        let known: Option<Vec<i64>> = dims.iter().map(|dim| i64::try_from(dim.known()?).ok()).collect();
        match known {
            Some(numbers) => self.set(name, numbers),
            None => self.set(name, dims),
        }
    }

    /// With other extents in place of the names in extents.
    pub fn replace_names(&self, of: &dyn Fn(&str) -> Option<Dim>) -> Attrs {
        self.map_dims(|dim| dim.replace(of))
    }

    /// With other extents in place of those in attributes of extents.
    pub fn map_dims(&self, mut of: impl FnMut(&Dim) -> Dim) -> Attrs {
        let mut made = Attrs::new();
        for (name, value) in self.iter() {
            match value {
                Attr::Dim(dim) => made.set_dim(name, of(dim)),
                Attr::Dims(dims) => made.set_dims(name, dims.iter().map(&mut of).collect()),
                _ => made.set(name, value.clone()),
            }
        }
        made
    }

    /// The names in extents, each once.
    pub fn names(&self) -> Vec<&str> {
        let dims = self.iter().flat_map(|(_, value)| match value {
            Attr::Dims(dims) => &dims[..],
            Attr::Dim(dim) => std::slice::from_ref(dim),
            _ => &[],
        });
        let mut names: Vec<&str> = dims.flat_map(Dim::names).collect();
        names.sort_unstable();
        names.dedup();
        names
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
