//! What the standard leaves open of a model's outputs, which who compares them must know.
//!
//! ```text
//!   random numbers   any will do that are distributed so: types alone can be compared
//!   pictures         decoders of JPEG may differ in the last levels (ITU-T T.83)
//! ```

use super::model::Model;
use super::proto::NodeProto;
use fusion_operators::{DType, Tensor};
use std::collections::HashSet;

const RANDOM: [&str; 6] =
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"];
/// Levels of 255 that decoders may be apart.
const LEVELS: u8 = 2;

/// What the standard leaves open of outputs, besides how they are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
        let inputs: HashSet<&str> = self.inputs().map(|input| input.name.as_str()).collect();
        let bodies = self.proto.functions.iter().map(|function| &function.node);
        bodies
            .chain([&self.graph().node])
            .map(|nodes| of_nodes(nodes, &inputs))
            .max()
            .unwrap_or(Freedom::None)
    }
}

fn of_nodes(nodes: &[NodeProto], inputs: &HashSet<&str>) -> Freedom {
    let one = |node: &NodeProto| match node.op_type.as_str() {
        name if RANDOM.contains(&name) => Freedom::Elements,
        // In inference it is exact; whether it trains, only an input leaves open.
        "Dropout" if node.input.get(2).is_some_and(|training| inputs.contains(training.as_str())) => {
            Freedom::Elements
        }
        "ImageDecoder" => Freedom::Levels,
        _ => {
            let graphs = node.attribute.iter().filter_map(|a| a.g.as_ref());
            graphs.map(|graph| of_nodes(&graph.node, inputs)).max().unwrap_or(Freedom::None)
        }
    };
    nodes.iter().map(one).max().unwrap_or(Freedom::None)
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
