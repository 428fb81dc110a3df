//! Inputs and outputs as Python sees them.

use fusion::models::{Declared, Extent};
use fusion_bytecode::ValueType;
use pyo3::prelude::*;

/// An extent: a number, a name, or nothing.
#[derive(IntoPyObject)]
pub enum Dim {
    Known(u64),
    Named(String),
    Unknown(Option<bool>),
}

impl Dim {
    /// Of an extent as ONNX declares it.
    fn of(extent: Extent) -> Dim {
        match extent {
            Extent::Known(n) => Dim::Known(n),
            Extent::Named(name) => Dim::Named(name),
            Extent::Unknown => Dim::Unknown(None),
        }
    }
}

/// A port as it is declared: its name, element type and shape, as far as these are.
pub type Port = (String, Option<String>, Option<Vec<Dim>>);

/// A port as ONNX declares it.
pub fn declared(declared: Declared) -> Port {
    let shape = declared.shape.map(|shape| shape.into_iter().map(Dim::of).collect());
    (declared.name, declared.dtype.map(|dtype| dtype.to_string()), shape)
}

/// A port of a compiled model.
pub fn of_argument(port: &fusion::ArgumentDescription) -> Port {
    let shape = port.shape.iter().map(|&n| Dim::Known(n as u64)).collect();
    (port.name.clone(), Some(port.dtype.to_string()), Some(shape))
}

/// A port of a program of the whole language.
pub fn of_value(name: &str, ty: &ValueType) -> Port {
    let ValueType::Tensor(ty) = ty else { return (name.to_owned(), None, None) };
    let dim = |dim: &fusion_operators::Dim| dim.known().map_or(Dim::Unknown(None), Dim::Known);
    (name.to_owned(), Some(ty.dtype.to_string()), Some(ty.dims.iter().map(dim).collect()))
}
