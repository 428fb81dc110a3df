//! What expressions stand for.
//!
//! Literals, tuples and functions of the module become operations where something uses them, once a block. So
//! the parts of a tuple are there when an operator takes them one by one (`concatenate((%a, %b))`), and a program does not
//! depend on where its constants were written.

use super::Emitter;
use crate::relay_text::syntax::Span;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::{
    Attribute, Type, TypeParts, Value, ValueLike, function_type, key, symbol_attr, tensor_type_to_mlir,
    tuple_type, type_parts, write_tensor,
};
use fusion_operators::{DType, Tensor};
use std::rc::Rc;

/// What an expression stands for.
#[derive(Clone)]
pub enum Made<'c> {
    /// A value of the program.
    Value(Value<'c>),
    /// A constant.
    Literal(Literal<'c>),
    /// A tuple of these.
    Several(Rc<Vec<Made<'c>>>),
    /// A function of the module.
    Global(Rc<str>),
    /// Memory that a call of a kernel writes a value to, by its place in the list of these.
    Memory(usize),
}

/// Memory of a block.
pub struct Memory<'c> {
    block: usize,
    value: Option<Made<'c>>,
}

/// A constant.
#[derive(Clone)]
pub enum Literal<'c> {
    /// A number, or a small table that an operator is built from.
    Scalar(Rc<Tensor>),
    /// One of the metadata section, by its place there.
    Meta(usize, Attribute<'c>, Type<'c>),
}

/// What is the same operation when it is in the same block.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Key {
    Scalar(DType, Vec<usize>, Vec<u8>),
    Meta(usize),
    /// By where its parts lie: tuples that share parts would have keys without end.
    Tuple(usize),
    Value(usize),
    Global(Rc<str>),
    Memory(usize),
}

impl<'c> Made<'c> {
    fn key(&self) -> Key {
        match self {
            Made::Value(value) => Key::Value(key(*value)),
            Made::Literal(Literal::Scalar(tensor)) => {
                Key::Scalar(tensor.dtype(), tensor.shape().to_vec(), tensor.bytes().to_vec())
            }
            Made::Literal(Literal::Meta(place, ..)) => Key::Meta(*place),
            Made::Several(parts) => Key::Tuple(Rc::as_ptr(parts) as usize),
            Made::Global(name) => Key::Global(name.clone()),
            Made::Memory(place) => Key::Memory(*place),
        }
    }

    /// A tuple of values.
    pub fn several(values: Vec<Value<'c>>) -> Made<'c> {
        Made::Several(Rc::new(values.into_iter().map(Made::Value).collect()))
    }

    /// The value of what has effects only.
    pub fn unit() -> Made<'c> {
        Made::Several(Rc::default())
    }
}

impl<'c> Emitter<'c, '_> {
    /// What an expression stands for, as a value.
    pub fn value(&mut self, made: &Made<'c>, span: Span) -> Value<'c> {
        if let Made::Value(value) = made {
            return *value;
        }
        if let Some(written) = self.written(made) {
            return self.value(&written, span);
        }
        let place = (self.at.block().to_raw().ptr as usize, made.key());
        if let Some((known, _)) = self.built.get(&place) {
            return *known;
        }
        let value = match made {
            Made::Value(value) => *value,
            Made::Memory(_) => {
                self.unwritten.get_or_insert(span);
                self.op(span, Relay::Tuple, &[], tuple_type(self.context, &[]), &[])
            }
            Made::Literal(Literal::Scalar(tensor)) => {
                let attr = write_tensor(self.context, tensor, "constant");
                let ty = tensor_type_to_mlir(self.context, &tensor.tensor_type());
                self.op(span, Relay::Constant, &[], ty, &[("value", attr)])
            }
            Made::Literal(Literal::Meta(_, attr, ty)) => {
                self.op(span, Relay::Constant, &[], *ty, &[("value", *attr)])
            }
            Made::Several(parts) => {
                let values: Vec<Value> = parts.iter().map(|part| self.value(part, span)).collect();
                let types: Vec<Type> = values.iter().map(|v| v.r#type()).collect();
                self.op(span, Relay::Tuple, &values, tuple_type(self.context, &types), &[])
            }
            Made::Global(name) => {
                let ty = self.global_type(name);
                self.op(span, Relay::Global, &[], ty, &[("function", symbol_attr(self.context, name))])
            }
        };
        // What a key names must stay where it lies.
        self.built.insert(place, (value, made.clone()));
        value
    }

    /// Whether what an expression stands for has exactly that type. Looks no deeper than the type is.
    pub fn is_of(&self, made: &Made<'c>, ty: Type<'c>) -> bool {
        match made {
            Made::Value(value) => value.r#type() == ty,
            Made::Literal(Literal::Scalar(tensor)) => {
                tensor_type_to_mlir(self.context, &tensor.tensor_type()) == ty
            }
            Made::Literal(Literal::Meta(_, _, found)) => *found == ty,
            Made::Several(parts) => match type_parts(ty) {
                TypeParts::Tuple(types) => {
                    types.len() == parts.len()
                        && parts.iter().zip(types).all(|(part, ty)| self.is_of(part, ty))
                }
                _ => false,
            },
            Made::Global(name) => self.global_type(name) == ty,
            Made::Memory(_) => self.written(made).is_none_or(|written| self.is_of(&written, ty)),
        }
    }

    // --- Memory

    fn here(&self) -> usize {
        self.at.block().to_raw().ptr as usize
    }

    /// New memory, without a value.
    pub fn memory(&mut self) -> Made<'c> {
        self.memories.push(Memory { block: self.here(), value: None });
        Made::Memory(self.memories.len() - 1)
    }

    fn written(&self, made: &Made<'c>) -> Option<Made<'c>> {
        match made {
            Made::Memory(place) => self.memories.get(*place)?.value.clone(),
            _ => None,
        }
    }

    /// Whether this is memory without a value.
    pub fn is_unwritten(&self, made: &Made<'c>) -> bool {
        matches!(made, Made::Memory(_)) && self.written(made).is_none()
    }

    /// Gives memory of this block a value; false for anything else.
    pub fn write(&mut self, made: &Made<'c>, value: Made<'c>) -> bool {
        let here = self.here();
        let Made::Memory(place) = made else { return false };
        match self.memories.get_mut(*place).filter(|memory| memory.block == here) {
            // Memory that stands for itself would have no end.
            Some(memory) if !matches!(value, Made::Memory(_)) => {
                memory.value = Some(value);
                true
            }
            _ => false,
        }
    }

    /// The type of a function of the module as a value; what a use of a polymorphic one is, inference says.
    fn global_type(&self, name: &str) -> Type<'c> {
        let signature = &self.functions[name];
        let plain = signature.type_parameters.is_empty() && !self.mentions_names(signature);
        match plain {
            true => function_type(self.context, &signature.parameters, &[signature.result]),
            false => self.hole(),
        }
    }

    /// As [`Self::value`], of several: in their order.
    pub fn values(&mut self, made: &[Made<'c>], span: Span) -> Vec<Value<'c>> {
        made.iter().map(|made| self.value(made, span)).collect()
    }
}
