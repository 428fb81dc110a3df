//! Inputs of nodes become quantized, in the form that is called QDQ:
//!
//! ```text
//!   Conv(x, W, b)    =>    Conv(DequantizeLinear(QuantizeLinear(x)), DequantizeLinear(W as integers), DequantizeLinear(b as i32))
//! ```
//! A value that is quantized in one way for several nodes is quantized once. A bias between products of integers is an integer as well, as runtimes
//! want it: its scale is the product of the others, so that it is off by half of that at most.
//!
//! The operators are those of ONNX's own operator set where the model's version of it has what is needed (scales along an axis from 13 on, floats of
//! 16 bits from 19, integers of 4 bits from 21). Else they are those of the domain `com.microsoft`, so that no other operator changes its meaning.

use super::names::Names;
use super::tensor::{packed, proto_of};
use super::wire::{NotAMessage, fields, put, put_int};
use crate::onnx::graph::version_in;
use crate::onnx::model::Model;
use crate::onnx::narrow_types::Narrow;
use crate::onnx::proto::{AttributeProto, GraphProto, NodeProto, OperatorSetIdProto, TensorProto};
use crate::onnx::tensor::{TensorProtoError, tensor};
use fusion_operators::{DType, Tensor, TensorError};
use prost::Message;
use prost::bytes::Bytes;
use std::collections::{HashMap, HashSet};

/// An input of a node of the model's own graph that becomes quantized.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedInput {
    /// The node, by its place.
    pub node: usize,
    /// Which input.
    pub input: usize,
    /// Its element type.
    pub dtype: DType,
    /// One scale, or one a channel.
    pub scales: Vec<f64>,
    /// One zero point, or one a channel.
    pub zeros: Vec<f64>,
    /// The axis of the channels, where there are several scales.
    pub axis: Option<usize>,
    /// How many bits the integers have: 8 or 4.
    pub bits: u32,
    /// The element type that holds the integers.
    pub integers: DType,
    /// The integers, where the input is an initializer.
    pub constant: Option<Tensor>,
}

/// Why a file is not rewritten.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RewriteError {
    #[error("the model cannot be taken apart: {0}")]
    Message(#[from] NotAMessage),
    #[error("the model cannot be taken apart: node {0} is none of its graph")]
    Node(usize),
    #[error(transparent)]
    External(#[from] TensorProtoError),
    #[error(transparent)]
    Tensor(#[from] TensorError),
    #[error(
        "the quantized model has {0} bytes, and a file of protocol buffers has less than 2 GiB; give fewer weights"
    )]
    TooLarge(usize),
}

/// Numbers of fields.
mod number {
    pub const IR_VERSION: u32 = 1;
    pub const GRAPH: u32 = 7;
    pub const OPSET: u32 = 8;
    pub const NODE: u32 = 1;
    pub const INITIALIZER: u32 = 5;
    pub const GRAPH_INPUT: u32 = 11;
    pub const NODE_INPUT: u32 = 1;
}

/// What inputs are quantized beside those that are asked for: biases of nodes, by operator. The result of such a node is a sum of products and the
/// bias.
const BIASES: &[(&str, usize)] = &[("Conv", 2), ("Gemm", 2), ("ConvTranspose", 2)];
/// The domain whose operators of the same names take all types.
const OTHER_DOMAIN: &str = "com.microsoft";

/// The bytes of a model, with inputs quantized.
pub fn quantize(model: &Model, bytes: &[u8], inputs: &[QuantizedInput]) -> Result<Vec<u8>, RewriteError> {
    let graph = model.graph();
    let mut rewriter = Rewriter {
        graph,
        model,
        names: Names::of(graph),
        made: HashMap::new(),
        before: HashMap::new(),
        changed: HashMap::new(),
        initializers: Vec::new(),
        dropped: HashSet::new(),
        domain: domain(model, inputs),
    };
    for input in inputs {
        rewriter.quantize(input)?;
    }
    rewriter.biases(inputs)?;
    let changed = rewriter.write(bytes, inputs.iter().any(|input| input.bits < 8))?;
    match changed.len() < 1 << 31 {
        true => Ok(changed),
        false => Err(RewriteError::TooLarge(changed.len())),
    }
}

/// The domain of the new operators.
fn domain(model: &Model, inputs: &[QuantizedInput]) -> &'static str {
    let version = version_in(&model.proto.opset_import, "").unwrap_or(0);
    let needed = |input: &QuantizedInput| match () {
        () if input.bits < 8 => 21,
        () if input.dtype != DType::F32 => 19,
        () if input.axis.is_some() => 13,
        () => 10,
    };
    match inputs.iter().all(|input| needed(input) <= version) {
        true => "",
        false => OTHER_DOMAIN,
    }
}

/// What tells two quantizations of a value apart.
type Way = (String, Vec<u64>, Vec<u64>, Option<usize>, u32);

struct Rewriter<'m> {
    graph: &'m GraphProto,
    model: &'m Model,
    names: Names,
    /// The dequantized value of each value, by the way.
    made: HashMap<Way, String>,
    /// Nodes that stand before a node.
    before: HashMap<usize, Vec<NodeProto>>,
    /// New names of inputs of nodes.
    changed: HashMap<usize, HashMap<usize, String>>,
    initializers: Vec<TensorProto>,
    /// Constants that nobody reads any more.
    dropped: HashSet<String>,
    domain: &'static str,
}

impl Rewriter<'_> {
    fn node(&self, place: usize) -> Result<&NodeProto, RewriteError> {
        self.graph.node.get(place).ok_or(RewriteError::Node(place))
    }

    /// The tensor that a name stands for: an initializer, or what a node Constant gives.
    fn constant(&self, name: &str) -> Option<&TensorProto> {
        let value = |node: &'_ NodeProto| {
            node.op_type == "Constant" && node.output.first().is_some_and(|o| o == name)
        };
        let node =
            || self.graph.node.iter().find(|node| value(node))?.attribute.iter().find_map(|a| a.t.as_ref());
        self.graph.initializer.iter().find(|t| t.name == name).or_else(node)
    }

    /// Whether nobody reads what a node gives any more.
    fn is_left_over(&self, node: usize) -> bool {
        let node = self.graph.node.get(node);
        node.is_some_and(|node| {
            node.op_type == "Constant" && node.output.iter().all(|name| self.dropped.contains(name))
        })
    }

    fn quantize(&mut self, input: &QuantizedInput) -> Result<(), RewriteError> {
        let node = self.node(input.node)?;
        let name = node.input.get(input.input).cloned().ok_or(RewriteError::Node(input.node))?;
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect();
        let way = (name.clone(), bits(&input.scales), bits(&input.zeros), input.axis, input.bits);
        let new = match self.made.get(&way) {
            Some(made) => made.clone(),
            None => {
                let made = self.make(input, &name)?;
                self.made.insert(way, made.clone());
                made
            }
        };
        self.rename(input.node, input.input, &name, new);
        Ok(())
    }

    fn rename(&mut self, node: usize, input: usize, old: &str, new: String) {
        self.changed.entry(node).or_default().insert(input, new);
        if let Some(uses) = self.names.uses.get_mut(old) {
            *uses = uses.saturating_sub(1);
            if *uses == 0 {
                self.dropped.insert(old.to_owned());
            }
        }
    }

    /// Quantizes and dequantizes a value before the node that reads it; gives the name of the result.
    fn make(&mut self, input: &QuantizedInput, name: &str) -> Result<String, RewriteError> {
        let shape: Vec<usize> = input.axis.map(|_| input.scales.len()).into_iter().collect();
        let scale = Tensor::from_f64s(input.dtype, &shape, &input.scales)?;
        let zeros = if input.zeros.len() == input.scales.len() {
            input.zeros.clone()
        } else {
            vec![0.0; input.scales.len()]
        };
        let zero = Tensor::from_f64s(input.integers, &shape, &zeros)?;
        let scale = self.initializer(&format!("{name}_scale"), &scale, 8)?;
        let zero = self.initializer(&format!("{name}_zero_point"), &zero, input.bits)?;
        let quantized = match &input.constant {
            Some(integers) => self.initializer(&format!("{name}_quantized"), integers, input.bits)?,
            None => {
                let quantized = self.names.fresh(&format!("{name}_quantized"));
                self.add(input, "QuantizeLinear", &[name, &scale, &zero], &quantized);
                quantized
            }
        };
        let dequantized = self.names.fresh(&format!("{name}_dequantized"));
        self.add(input, "DequantizeLinear", &[&quantized, &scale, &zero], &dequantized);
        Ok(dequantized)
    }

    fn add(&mut self, input: &QuantizedInput, operator: &str, operands: &[&str], result: &str) {
        let axis = input.axis.map(|axis| AttributeProto {
            name: "axis".to_owned(),
            i: Some(axis as i64),
            r#type: 2,
            ..AttributeProto::default()
        });
        let name = self.names.fresh(&format!("{result}/{operator}"));
        self.before.entry(input.node).or_default().push(NodeProto {
            input: operands.iter().map(|name| (*name).to_owned()).collect(),
            output: vec![result.to_owned()],
            name,
            op_type: operator.to_owned(),
            attribute: axis.into_iter().collect(),
            domain: self.domain.to_owned(),
            ..NodeProto::default()
        });
    }

    /// Adds an initializer; gives its name.
    fn initializer(&mut self, wanted: &str, tensor: &Tensor, bits: u32) -> Result<String, RewriteError> {
        let name = self.names.fresh(wanted);
        self.initializers.push(proto_of(&name, tensor, bits));
        Ok(name)
    }

    /// Biases of nodes whose data and weights are of 8 bits.
    fn biases(&mut self, inputs: &[QuantizedInput]) -> Result<(), RewriteError> {
        let mut by_node: HashMap<usize, Vec<&QuantizedInput>> = HashMap::new();
        let mut order = Vec::new();
        for input in inputs.iter().filter(|input| input.bits == 8) {
            let of = by_node.entry(input.node).or_insert_with(|| {
                order.push(input.node);
                Vec::new()
            });
            of.push(input);
        }
        for place in order {
            let of = &by_node[&place];
            let data = of.iter().find(|input| input.input == 0 && input.constant.is_none());
            let weight = of.iter().find(|input| input.input == 1 && input.constant.is_some());
            if let Some((data, weight)) = data.zip(weight) {
                self.bias(place, data, weight)?;
            }
        }
        Ok(())
    }

    fn bias(
        &mut self,
        place: usize,
        data: &QuantizedInput,
        weight: &QuantizedInput,
    ) -> Result<(), RewriteError> {
        let node = self.node(place)?;
        let row = BIASES.iter().find(|(name, _)| *name == node.op_type && node.domain.is_empty());
        let scaled = |a: &AttributeProto| ["alpha", "beta"].contains(&a.name.as_str()) && a.f != Some(1.0);
        let Some((_, input)) = row.filter(|_| !node.attribute.iter().any(scaled)) else { return Ok(()) };
        let Some(name) = node.input.get(*input).filter(|name| !name.is_empty()).cloned() else {
            return Ok(());
        };
        let Some(proto) = self.constant(&name) else { return Ok(()) };
        let values = tensor(proto, self.model.directory.as_deref())?;
        let count = weight.scales.len();
        // One number a channel, as there are scales, or one scale for all of them.
        if values.shape().len() != 1 || count != 1 && count != values.len() {
            return Ok(());
        }
        let scales: Vec<f64> = weight.scales.iter().map(|s| f64::from((s * data.scales[0]) as f32)).collect();
        let scale_of = |i: usize| scales[if count == 1 { 0 } else { i }];
        let integers: Vec<f64> =
            values.to_f64s().iter().enumerate().map(|(i, b)| (b / scale_of(i)).round_ties_even()).collect();
        if !integers.iter().all(|q| q.abs() < f64::from(i32::MAX)) {
            return Ok(());
        }
        let integers = Tensor::from_f64s(DType::I32, values.shape(), &integers)?;
        let bias = QuantizedInput {
            node: place,
            input: *input,
            dtype: data.dtype,
            zeros: vec![0.0; count],
            axis: (count > 1).then_some(0),
            scales,
            bits: 32,
            integers: DType::I32,
            constant: Some(integers),
        };
        self.quantize(&bias)
    }

    /// The file with what has changed.
    fn write(&self, bytes: &[u8], is_narrow: bool) -> Result<Vec<u8>, RewriteError> {
        let mut out = Vec::with_capacity(bytes.len());
        // Integers of 4 bits are of version 10 of the format, initializers that are no inputs of version 4.
        let least = if is_narrow { 10 } else { 4 };
        let mut has_other = self.domain.is_empty();
        for field in fields(bytes)? {
            match field.number {
                number::IR_VERSION => put_int(&mut out, field.number, self.model.proto.ir_version.max(least)),
                number::GRAPH => put(&mut out, field.number, &self.graph_bytes(field.content)?),
                number::OPSET => {
                    let opset = OperatorSetIdProto::decode(field.content).unwrap_or_default();
                    has_other |= opset.domain == OTHER_DOMAIN;
                    out.extend(field.whole);
                }
                _ => out.extend(field.whole),
            }
        }
        if !has_other {
            let opset = OperatorSetIdProto { domain: OTHER_DOMAIN.to_owned(), version: 1 };
            put(&mut out, number::OPSET, &opset.encode_to_vec());
        }
        Ok(out)
    }

    fn graph_bytes(&self, bytes: &[u8]) -> Result<Vec<u8>, RewriteError> {
        let mut out = Vec::with_capacity(bytes.len());
        let (mut node, mut initializer, mut input) = (0, 0, 0);
        for field in fields(bytes)? {
            match field.number {
                number::NODE => {
                    for new in self.before.get(&node).into_iter().flatten() {
                        put(&mut out, number::NODE, &new.encode_to_vec());
                    }
                    match self.changed.get(&node) {
                        _ if self.is_left_over(node) => {}
                        Some(names) => put(&mut out, number::NODE, &renamed(field.content, names)?),
                        None => out.extend(field.whole),
                    }
                    node += 1;
                }
                number::INITIALIZER => {
                    let proto = self.graph.initializer.get(initializer);
                    initializer += 1;
                    match proto {
                        Some(proto) if self.dropped.contains(&proto.name) => {}
                        // The file may lie elsewhere than that which its tensors are in.
                        Some(proto) if proto.data_location == 1 => {
                            put(&mut out, number::INITIALIZER, &self.inlined(proto)?.encode_to_vec());
                        }
                        _ => out.extend(field.whole),
                    }
                }
                number::GRAPH_INPUT => {
                    let name = self.graph.input.get(input).map(|info| &info.name);
                    input += 1;
                    let is_weight = |name: &String| {
                        self.dropped.contains(name) && self.graph.initializer.iter().any(|t| t.name == *name)
                    };
                    if !name.is_some_and(is_weight) {
                        out.extend(field.whole);
                    }
                }
                _ => out.extend(field.whole),
            }
        }
        for tensor in &self.initializers {
            put(&mut out, number::INITIALIZER, &tensor.encode_to_vec());
        }
        Ok(out)
    }

    fn inlined(&self, proto: &TensorProto) -> Result<TensorProto, RewriteError> {
        let tensor = tensor(proto, self.model.directory.as_deref())?;
        let narrow = Narrow::of(proto.data_type.into()).filter(|narrow| narrow.bits < 8);
        let bytes =
            narrow.map_or_else(|| tensor.bytes().to_vec(), |narrow| packed(tensor.bytes(), narrow.bits));
        let raw_data = Some(Bytes::from(bytes));
        Ok(TensorProto { raw_data, data_location: 0, external_data: Vec::new(), ..proto.clone() })
    }
}

/// A node whose inputs have other names; all else stays.
fn renamed(node: &[u8], names: &HashMap<usize, String>) -> Result<Vec<u8>, NotAMessage> {
    let mut out = Vec::with_capacity(node.len());
    let mut input = 0;
    for field in fields(node)? {
        if field.number == number::NODE_INPUT {
            match names.get(&input) {
                Some(name) => put(&mut out, number::NODE_INPUT, name.as_bytes()),
                None => out.extend(field.whole),
            }
            input += 1;
        } else {
            out.extend(field.whole);
        }
    }
    Ok(out)
}
