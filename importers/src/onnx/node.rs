//! A node with its operands and attributes resolved, as conversions read it.

use fusion_operators::{DType, Tensor};
use indexmap::IndexMap;

use super::error::{Fault, Place};
use super::narrow_types::Narrow;
use super::proto::{AttributeProto, GraphProto};
use super::sparse::dense;
use super::tensor::{complex, element_type, tensor};

/// A value in the importer: an index into its definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(super) u32);

/// A node whose inputs are values and whose attributes no longer refer to a function's.
#[derive(Clone)]
pub struct Node<'m> {
    /// What it is called.
    pub place: Place,
    /// Version of the operator set it is read by.
    pub version: i64,
    /// Operands; `None` where an optional one is left out.
    pub inputs: Vec<Option<Value>>,
    /// Results; false where one is left out.
    pub outputs: Vec<bool>,
    pub(super) names: &'m [String],
    pub(super) attributes: IndexMap<&'m str, &'m AttributeProto>,
}

impl<'m> Node<'m> {
    /// An operand that must be there.
    pub fn input(&self, index: usize) -> Result<Value, Fault> {
        self.opt(index).ok_or(Fault::MissingInput { index })
    }

    /// An operand that may be left out.
    pub fn opt(&self, index: usize) -> Option<Value> {
        self.inputs.get(index).copied().flatten()
    }

    /// All operands, of which none may be left out.
    pub fn all_inputs(&self) -> Result<Vec<Value>, Fault> {
        (0..self.inputs.len()).map(|i| self.input(i)).collect()
    }

    /// The name of an operand in the model.
    pub fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("", String::as_str)
    }

    /// True when the result is used by name.
    pub fn wants(&self, output: usize) -> bool {
        self.outputs.get(output).copied().unwrap_or(false)
    }

    /// True when the attribute is there.
    pub fn has(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }

    fn read<T>(
        &self,
        name: &str,
        kind: i32,
        expected: &'static str,
        field: impl Fn(&'m AttributeProto) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(&attribute) = self.attributes.get(name) else { return Ok(None) };
        // Files of the first IR versions have no discriminator.
        if attribute.r#type != kind && attribute.r#type != 0 {
            return Err(Fault::Attribute { name: name.into(), expected });
        }
        field(attribute).map(Some).ok_or(Fault::Attribute { name: name.into(), expected })
    }

    /// An integer, when present.
    pub fn opt_int(&self, name: &str) -> Result<Option<i64>, Fault> {
        self.read(name, 2, "an integer", |a| Some(a.i.unwrap_or(0)))
    }

    /// An integer, or the default.
    pub fn int(&self, name: &str, default: i64) -> Result<i64, Fault> {
        Ok(self.opt_int(name)?.unwrap_or(default))
    }

    /// A flag, false when absent.
    pub fn flag(&self, name: &str) -> Result<bool, Fault> {
        Ok(self.int(name, 0)? != 0)
    }

    /// A float, when present.
    pub fn opt_float(&self, name: &str) -> Result<Option<f64>, Fault> {
        // Through its shortest decimal form, so that 0.1 is the f64 nearest to 0.1.
        self.read(name, 1, "a float", |a| Some(widen(a.f.unwrap_or(0.0))))
    }

    /// A float, or the default.
    pub fn float(&self, name: &str, default: f64) -> Result<f64, Fault> {
        Ok(self.opt_float(name)?.unwrap_or(default))
    }

    /// A string, when present.
    pub fn opt_string(&self, name: &str) -> Result<Option<&'m str>, Fault> {
        self.read(name, 3, "a string", |a| std::str::from_utf8(a.s.as_deref().unwrap_or_default()).ok())
    }

    /// A string, or the default.
    pub fn string(&self, name: &str, default: &'m str) -> Result<&'m str, Fault> {
        Ok(self.opt_string(name)?.unwrap_or(default))
    }

    /// Integers, when present.
    pub fn ints(&self, name: &str) -> Result<Option<&'m [i64]>, Fault> {
        self.read(name, 7, "a list of integers", |a| Some(a.ints.as_slice()))
    }

    /// Floats, when present.
    pub fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, Fault> {
        self.read(name, 6, "a list of floats", |a| Some(a.floats.iter().map(|&v| widen(v)).collect()))
    }

    /// Strings, when present.
    pub fn strings(&self, name: &str) -> Result<Option<Vec<&'m str>>, Fault> {
        self.read(name, 8, "a list of strings", |a| {
            a.strings.iter().map(|s| std::str::from_utf8(s).ok()).collect()
        })
    }

    /// A tensor, when present.
    pub fn tensor(&self, name: &str, directory: Option<&std::path::Path>) -> Result<Option<Tensor>, Fault> {
        match self.narrow_of(name)? {
            Some(narrow) => {
                Err(Fault::unsupported(format!("a tensor of {} (attribute {name})", narrow.name)))
            }
            None => self.held_tensor(name, directory),
        }
    }

    /// A tensor, when present, whose elements may be held in bytes.
    pub fn held_tensor(
        &self,
        name: &str,
        directory: Option<&std::path::Path>,
    ) -> Result<Option<Tensor>, Fault> {
        let found = self.read(name, 4, "a tensor", |a| a.t.as_ref())?;
        Ok(found.map(|t| tensor(t, directory)).transpose()?)
    }

    /// The parts of a tensor of complex numbers, when present.
    pub fn complex_tensor(
        &self,
        name: &str,
        directory: Option<&std::path::Path>,
    ) -> Result<Option<[Tensor; 2]>, Fault> {
        let Some(found) = self.read(name, 4, "a tensor", |a| a.t.as_ref())? else { return Ok(None) };
        Ok(complex(found, directory)?)
    }

    /// A tensor that is held by the places of its elements, when present.
    pub fn sparse_tensor(
        &self,
        name: &str,
        directory: Option<&std::path::Path>,
    ) -> Result<Option<Tensor>, Fault> {
        let found = self.read(name, 11, "a sparse tensor", |a| a.sparse_tensor.as_ref())?;
        Ok(found.map(|sparse| dense(sparse, directory)).transpose()?)
    }

    /// The type that the bytes of a tensor stand for.
    pub fn narrow_of(&self, name: &str) -> Result<Option<&'static Narrow>, Fault> {
        let found = self.read(name, 4, "a tensor", |a| a.t.as_ref())?;
        Ok(found.and_then(|t| Narrow::of(t.data_type.into())))
    }

    /// A graph that must be there.
    pub fn graph(&self, name: &str) -> Result<&'m GraphProto, Fault> {
        self.read(name, 5, "a graph", |a| a.g.as_ref())?
            .ok_or_else(|| Fault::MissingAttribute { name: name.into() })
    }

    /// An element type by its number, when present.
    pub fn opt_dtype(&self, name: &str) -> Result<Option<DType>, Fault> {
        let Some(number) = self.opt_int(name)? else { return Ok(None) };
        let number = i32::try_from(number).unwrap_or(-1);
        let unsupported = |element| Fault::unsupported(format!("element type {element} (attribute {name})"));
        Ok(Some(element_type(number).map_err(unsupported)?))
    }

    /// An integer that must be there.
    pub fn required_int(&self, name: &str) -> Result<i64, Fault> {
        self.opt_int(name)?.ok_or_else(|| Fault::MissingAttribute { name: name.into() })
    }
}

/// The f64 that prints as the f32 does.
fn widen(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(value.into())
}
