//! What the standard leaves open of a model's outputs, which who compares them must know.
//!
//! ```text
//!   random numbers   any will do that are distributed so: types alone can be compared
//!   pictures         decoders of JPEG may differ in the last levels (ITU-T T.83)
//! ```

use super::model::Model;
use super::proto::{GraphProto, NodeProto};
use fusion_operators::{DType, Tensor};

const RANDOM: [&str; 7] = [
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];
/// Levels of 255 that decoders may be apart.
const LEVELS: u8 = 2;

/// What the standard leaves open of outputs, besides how they are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Nothing.
    None,
    /// The last levels of pictures.
    Levels,
    /// All elements.
    Elements,
}

impl Model {
    /// What the standard leaves open of this model's outputs.
    pub fn freedom(&self) -> Freedom {
        let mut of_body = of_graph(self.graph());
        for function in &self.proto.functions {
            of_body = of_nodes(&function.node, of_body);
        }
        of_body
    }
}

fn of_graph(graph: &GraphProto) -> Freedom {
    of_nodes(&graph.node, Freedom::None)
}

fn of_nodes(nodes: &[NodeProto], known: Freedom) -> Freedom {
    let one = |node: &NodeProto| match node.op_type.as_str() {
        name if RANDOM.contains(&name) => Freedom::Elements,
        "ImageDecoder" => Freedom::Levels,
        _ => node.attribute.iter().filter_map(|a| a.g.as_ref()).map(of_graph).fold(Freedom::None, wider),
    };
    nodes.iter().map(one).fold(known, wider)
}

fn wider(a: Freedom, b: Freedom) -> Freedom {
    if a as u8 >= b as u8 { a } else { b }
}

impl Freedom {
    /// Whether an output of one type with what was expected may be another for that reason.
    pub fn allows(self, found: &Tensor, expected: &Tensor) -> bool {
        let is_same_type = found.tensor_type() == expected.tensor_type();
        is_same_type
            && match self {
                Freedom::None => false,
                Freedom::Levels if found.dtype() == DType::U8 => {
                    found.bytes().iter().zip(expected.bytes()).all(|(a, b)| a.abs_diff(*b) <= LEVELS)
                }
                Freedom::Levels => false,
                Freedom::Elements => true,
            }
    }
}
