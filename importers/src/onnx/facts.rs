//! What a model says of itself: who made it, properties that programs around it read, and its inputs and outputs as they are declared.

use super::model::Model;
use super::proto::{DimensionProto, ValueInfoProto, dimension_proto, type_proto};
use super::tensor::held_type;
use fusion_operators::DType;

/// What a model says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The program that wrote it.
    pub producer: String,
    /// The name of its graph.
    pub graph: String,
    /// Its domain, a reversed name of a host.
    pub domain: String,
    /// A text for people.
    pub description: String,
    /// Its version.
    pub version: i64,
    /// Names and values for programs around it, such as the characters that a recognizer knows.
    pub properties: Vec<(String, String)>,
    /// The inputs that are no initializers, in order.
    pub inputs: Vec<Declared>,
    /// The outputs, in order.
    pub outputs: Vec<Declared>,
}

/// An input or output as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The element type of a tensor, where it is one that is known.
    pub dtype: Option<DType>,
    /// The extents of a tensor, where its rank is declared.
    pub shape: Option<Vec<Extent>>,
}

/// An extent as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A number.
    Known(u64),
    /// A name.
    Named(String),
    /// Nothing.
    Unknown,
}

impl Facts {
    /// Of a model.
    pub fn of(model: &Model) -> Facts {
        let (proto, graph) = (&model.proto, model.graph());
        Facts {
            producer: proto.producer_name.clone(),
            graph: graph.name.clone(),
            domain: proto.domain.clone(),
            description: proto.doc_string.clone(),
            version: proto.model_version,
            properties: proto.metadata_props.iter().map(|p| (p.key.clone(), p.value.clone())).collect(),
            inputs: model.inputs().map(declared).collect(),
            outputs: graph.output.iter().map(declared).collect(),
        }
    }
}

fn declared(info: &ValueInfoProto) -> Declared {
    let name = info.name.clone();
    let Some(type_proto::Value::Tensor(tensor)) = info.r#type.as_ref().and_then(|t| t.value.as_ref()) else {
        return Declared { name, dtype: None, shape: None };
    };
    let shape = tensor.shape.as_ref().map(|shape| shape.dim.iter().map(extent).collect());
    Declared { name, dtype: held_type(tensor.elem_type).ok(), shape }
}

fn extent(dim: &DimensionProto) -> Extent {
    match &dim.value {
        Some(dimension_proto::Value::DimValue(n)) => u64::try_from(*n).map_or(Extent::Unknown, Extent::Known),
        Some(dimension_proto::Value::DimParam(name)) if !name.is_empty() => Extent::Named(name.clone()),
        _ => Extent::Unknown,
    }
}
