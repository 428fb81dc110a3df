//! What a model takes and gives, read from its entry function while that still has tensors.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Op, OpExt, Type, array_elements, dictionary_text, function_parts, tensor_type_of, top_level,
    type_of_attr,
};
use fusion_operators::TensorType;

pub use fusion_dialects::relay::NAME;

/// A model's inputs and outputs, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it takes.
    pub inputs: Vec<Port>,
    /// What it gives.
    pub outputs: Vec<Port>,
}

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name in the model; `input_N` or `output_N` when it has none.
    pub name: String,
    /// Its type; all extents are known.
    pub ty: TensorType,
}

/// Why a module has no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The function is missing.
    #[error("the module has no function @{0}")]
    NoFunction(String),
    /// The function has something else than a tensor.
    #[error("the {side} '{name}' is of type {ty}, which is no tensor")]
    NotATensor {
        /// "input" or "output".
        side: &'static str,
        /// Its name.
        name: String,
        /// Its type as MLIR prints it.
        ty: String,
    },
    /// An extent is known only at run time.
    #[error("the {side} '{name}' is of type {ty}, whose shape is not fixed; give {}", what_to_give(.side, .name))]
    Dynamic {
        /// "input" or "output".
        side: &'static str,
        /// Its name.
        name: String,
        /// Its type.
        ty: TensorType,
    },
}

fn what_to_give(side: &str, name: &str) -> String {
    if side == "input" {
        format!("the shape of the input '{name}'")
    } else {
        "the shapes of the inputs it follows from".to_owned()
    }
}

impl Signature {
    /// The signature of the function of that name. Read it before `te-plan-memory`, which turns tensors into memory.
    pub fn of(module: Op, function: &str) -> Result<Signature, SignatureError> {
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
        let found = functions.into_iter().find(|f| f.text("sym_name") == Some(function));
        let found = found.ok_or_else(|| SignatureError::NoFunction(function.to_owned()))?;
        let parts = found.attr("function_type").and_then(type_of_attr).and_then(function_parts);
        let (inputs, outputs) = parts.unwrap_or_default();
        Ok(Signature {
            inputs: ports("input", &inputs, found.attr("arg_attrs"))?,
            outputs: ports("output", &outputs, found.attr("res_attrs"))?,
        })
    }
}

/// The names that a function's results have in the model, in order; none for those without one.
pub fn result_names(module: Op, function: &str) -> Vec<Option<String>> {
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let found = functions.into_iter().find(|f| f.text("sym_name") == Some(function));
    let attrs = found.and_then(|f| f.attr("res_attrs")).map(array_elements).unwrap_or_default();
    attrs.into_iter().map(|attrs| dictionary_text(attrs, NAME)).collect()
}

fn ports(side: &'static str, types: &[Type], attrs: Option<Attribute>) -> Result<Vec<Port>, SignatureError> {
    let attrs = attrs.map(array_elements).unwrap_or_default();
    let port = |(i, ty): (usize, &Type)| {
        let given = attrs.get(i).and_then(|attrs| dictionary_text(*attrs, NAME));
        let name = given.unwrap_or_else(|| format!("{side}_{i}"));
        let Some(tensor) = tensor_type_of(*ty) else {
            return Err(SignatureError::NotATensor { side, name, ty: ty.to_string() });
        };
        match tensor.shape() {
            Some(_) => Ok(Port { name, ty: tensor }),
            None => Err(SignatureError::Dynamic { side, name, ty: tensor }),
        }
    };
    types.iter().enumerate().map(port).collect()
}
