//! What a model says of itself: who made it, properties that programs around it read, and its inputs and outputs as they are declared.

use super::model::Model;
use super::parts::Part;
use super::proto::{DimensionProto, GraphProto, ValueInfoProto, dimension_proto, type_proto};
use super::tensor::{held_type, part_type};
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
    /// Outputs that are rows of scores, and the labels of their columns: to ONNX, a map from labels to scores a row.
    pub labels: Vec<(String, Labels)>,
}

/// Labels of classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Texts.
    Strings(Vec<String>),
    /// Numbers.
    Integers(Vec<i64>),
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
            inputs: model.inputs().flat_map(declared).collect(),
            outputs: graph.output.iter().flat_map(declared).collect(),
            labels: graph.output.iter().filter_map(|info| labels(graph, &info.name)).collect(),
        }
    }
}

/// The labels of an output that is made of scores.
fn labels(graph: &GraphProto, output: &str) -> Option<(String, Labels)> {
    let node = graph.node.iter().find(|node| node.output.iter().any(|name| name == output))?;
    let list = |name: &str| node.attribute.iter().find(|attribute| attribute.name == name);
    let text = |bytes: &prost::bytes::Bytes| String::from_utf8(bytes.to_vec()).ok();
    let labels = match (node.op_type.as_str(), list("classlabels_strings"), list("classlabels_int64s")) {
        ("ZipMap", Some(strings), None) => {
            Labels::Strings(strings.strings.iter().map(text).collect::<Option<_>>()?)
        }
        ("ZipMap", None, Some(integers)) => Labels::Integers(integers.ints.clone()),
        _ => return None,
    };
    Some((output.to_owned(), labels))
}

/// A value as programs have it: two, where it is held in parts.
fn declared(info: &ValueInfoProto) -> Vec<Declared> {
    let part = |part: Part, dtype, shape| Declared { name: part.of(&info.name), dtype, shape };
    match info.r#type.as_ref().and_then(|t| t.value.as_ref()) {
        Some(type_proto::Value::Tensor(tensor)) => {
            let extents = tensor.shape.as_ref().map(|shape| shape.dim.iter().map(extent).collect::<Vec<_>>());
            match part_type(tensor.elem_type) {
                Some(dtype) => {
                    vec![
                        part(Part::Real, Some(dtype), extents.clone()),
                        part(Part::Imag, Some(dtype), extents),
                    ]
                }
                None => {
                    let dtype = held_type(tensor.elem_type).ok();
                    vec![Declared { name: info.name.clone(), dtype, shape: extents }]
                }
            }
        }
        Some(type_proto::Value::Map(map)) => {
            let column = Some(vec![Extent::Unknown]);
            let values = match map.value_type.as_ref().and_then(|t| t.value.as_ref()) {
                Some(type_proto::Value::Tensor(value)) => held_type(value.elem_type).ok(),
                _ => None,
            };
            let keys = held_type(map.key_type).ok();
            vec![part(Part::Keys, keys, column.clone()), part(Part::Values, values, column)]
        }
        _ => vec![Declared { name: info.name.clone(), dtype: None, shape: None }],
    }
}

fn extent(dim: &DimensionProto) -> Extent {
    match &dim.value {
        Some(dimension_proto::Value::DimValue(n)) => u64::try_from(*n).map_or(Extent::Unknown, Extent::Known),
        Some(dimension_proto::Value::DimParam(name)) if !name.is_empty() => Extent::Named(name.clone()),
        _ => Extent::Unknown,
    }
}
