//! Whether a value fits a pattern or a type, as far as these are known.

use super::Values;
use crate::code::{Expect, Extent, Fit};
use crate::value::Value;
use std::rc::Rc;

impl Fit {
    /// True when a value fits; what is bound is added to the list, which is of no use otherwise.
    pub(super) fn fits<'c>(&self, value: &Value<'c>, bound: &mut Values<'c>) -> bool {
        match (self, value) {
            (Fit::Any, _) => true,
            (Fit::Bind, value) => {
                bound.push(value.clone());
                true
            }
            (Fit::Data(wanted, parts), Value::Data(constructor, fields)) => {
                (Rc::ptr_eq(wanted, constructor) || wanted == constructor)
                    && parts.len() == fields.len()
                    && parts.iter().zip(fields.iter()).all(|(part, field)| part.fits(field, bound))
            }
            (Fit::Tuple(parts), Value::Tuple(elements)) => {
                parts.len() == elements.len()
                    && parts.iter().zip(elements.iter()).all(|(part, element)| part.fits(element, bound))
            }
            _ => false,
        }
    }
}

impl Expect {
    /// True unless a value contradicts; named extents that are met first become known.
    pub(super) fn fits(&self, value: &Value, extents: &mut [Option<u64>]) -> bool {
        match (self, value) {
            (Expect::Any, _) => true,
            (Expect::Tensor { dtype, dims, .. }, Value::Tensor(tensor)) => {
                *dtype == tensor.dtype()
                    && dims.len() == tensor.shape().len()
                    && dims.iter().zip(tensor.shape()).all(|(dim, &n)| match dim {
                        Extent::Any => true,
                        Extent::Fixed(extent) => *extent == n as u64,
                        Extent::Named(name) => *extents[*name].get_or_insert(n as u64) == n as u64,
                    })
            }
            (Expect::Tuple(count), Value::Tuple(elements)) => *count == elements.len(),
            (Expect::Function, Value::Closure(_)) | (Expect::Cell, Value::Cell(_)) => true,
            (Expect::Data(name), Value::Data(constructor, _)) => *name == constructor.data,
            _ => false,
        }
    }

    /// What a message calls it, with the named extents that are known.
    pub(super) fn text(&self, extents: &[Option<u64>]) -> String {
        match self {
            Expect::Any => "any".into(),
            Expect::Tensor { dims, ty, .. } => {
                let known = dims.iter().zip(&ty.dims).filter_map(|(dim, name)| match dim {
                    Extent::Named(n) => Some(format!("{name} is {}", (*extents.get(*n)?)?)),
                    _ => None,
                });
                let mut known: Vec<String> = known.collect();
                known.dedup();
                if known.is_empty() { ty.to_string() } else { format!("{ty}, where {}", known.join(" and ")) }
            }
            Expect::Tuple(count) => format!("a tuple of {count}"),
            Expect::Function => "a function".into(),
            Expect::Data(name) => format!("a value of the data type @{name}"),
            Expect::Cell => "a reference".into(),
        }
    }
}
