//! Declarations of data types.

use super::{Instance, PatternError};
use crate::rows::Kind;
use crate::{Op, OpExt, Type, TypeParts, array_elements, constructor_parts, texts_of, type_parts};

/// A data type, as `relay.data` declares it.
#[derive(Clone, Debug)]
pub struct DataType<'c> {
    /// Its name.
    pub name: &'c str,
    /// Its type parameters.
    pub parameters: Vec<&'c str>,
    /// Its constructors; the place of one is its tag.
    pub constructors: Vec<Constructor<'c>>,
}

/// A constructor of a data type.
#[derive(Clone, Debug)]
pub struct Constructor<'c> {
    /// Its name.
    pub name: &'c str,
    /// The types of its fields, over the data type's parameters.
    pub fields: Vec<Type<'c>>,
}

impl<'c> DataType<'c> {
    /// Reads a `relay.data`; `None` for other operations.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !matches!(op.kind(), Some(Kind::Relay(super::Op::Data))) {
            return None;
        }
        let constructors = op.attr("constructors").map(array_elements).unwrap_or_default();
        let constructors = constructors.into_iter().filter_map(constructor_parts);
        Some(DataType {
            name: op.text("sym_name")?,
            parameters: op.attr("parameters").map(texts_of).unwrap_or_default(),
            constructors: constructors.map(|(name, fields)| Constructor { name, fields }).collect(),
        })
    }

    /// The tag of a constructor, and the constructor.
    pub fn constructor(&self, name: &str) -> Option<(usize, &Constructor<'c>)> {
        self.constructors.iter().enumerate().find(|(_, c)| c.name == name)
    }

    /// The types of a constructor's fields in a value of that type.
    pub fn fields_in(&self, name: &str, ty: Type<'c>) -> Result<Vec<Type<'c>>, PatternError> {
        let context = crate::context_of_type(ty);
        let Some((_, constructor)) = self.constructor(name) else {
            let known: Vec<_> = self.constructors.iter().map(|c| c.name).collect();
            return Err(PatternError(format!(
                "the data type @{} has no constructor @{name}; it has {}",
                self.name,
                known.join(", ")
            )));
        };
        let arguments = match type_parts(ty) {
            TypeParts::Adt(of, arguments) if of == self.name => arguments,
            TypeParts::Hole => vec![ty; self.parameters.len()],
            _ => {
                return Err(PatternError(format!(
                    "the constructor @{}::@{name} cannot make a value of type {ty}",
                    self.name
                )));
            }
        };
        if arguments.len() != self.parameters.len() {
            return Err(PatternError(format!(
                "{ty} has {} type arguments, the data type @{} takes {}",
                arguments.len(),
                self.name,
                self.parameters.len()
            )));
        }
        let instance = Instance::new(&self.parameters, &arguments);
        Ok(constructor.fields.iter().map(|field| instance.apply(context, *field)).collect())
    }
}
