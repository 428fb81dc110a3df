//! Calls of relay's operators as a model of ONNX, for others to run.
//!
//! ```text
//!   relay.rsqrt %x            =>   Sqrt, Reciprocal
//!   relay.dense %x, %w        =>   Transpose of %w, MatMul
//!   relay.arange {size = 4}   =>   an initializer
//! ```
//! An operator is a row of its family's table: how its nodes are written. What has no form in ONNX of this operator set, by the operator or by its
//! attributes and element types, is refused by name.

mod elementwise;
mod moves;
mod sums;

use super::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto,
    TensorTypeProto, TypeProto, ValueInfoProto, dimension_proto, type_proto,
};
use super::rewrite::tensor::proto_of;
use super::tensor::number_of;
use fusion_operators::{Attr, Call, DType, Dim, Operator, Tensor, TensorType};
use prost::Message;
use prost::bytes::Bytes;

/// The operator set that is written: the last one that ONNX Runtime has whole.
pub const OPERATOR_SET: i64 = 22;
/// The version of the file format that goes with it.
const IR_VERSION: i64 = 10;

/// Writes the nodes of a call, and gives the name of its result; none where ONNX has no such call.
type Write = fn(&mut Exporter, &Call, &[String], &TensorType) -> Option<String>;
/// How an operator is written.
type Row = (&'static Operator, Write);

const ROWS: [&[Row]; 3] = [elementwise::ROWS, sums::ROWS, moves::ROWS];

/// A call that ONNX has no form for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "relay.{operator} of {operands} with these attributes has no form in operator set {OPERATOR_SET} of ONNX; write it as other operators"
)]
pub struct NoForm {
    /// The operator.
    pub operator: &'static str,
    /// The types of its operands.
    pub operands: String,
}

/// A model that is being written.
#[derive(Default)]
pub struct Exporter {
    graph: GraphProto,
    made: usize,
}

impl Exporter {
    /// A model without inputs and nodes.
    pub fn new() -> Self {
        Exporter { graph: GraphProto { name: "main".to_owned(), ..GraphProto::default() }, made: 0 }
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, ty: &TensorType) {
        self.graph.input.push(port(name, ty));
    }

    /// Adds an output: a value of the graph under a name of its own.
    pub fn output(&mut self, name: &str, value: &str, ty: &TensorType) {
        self.push("Identity", &[value], vec![name.to_owned()], Vec::new());
        self.graph.output.push(port(name, ty));
    }

    /// Adds a constant, and gives its name.
    pub fn constant(&mut self, tensor: &Tensor) -> String {
        let name = self.fresh();
        self.graph.initializer.push(proto_of(&name, tensor, 8));
        name
    }

    /// Adds the nodes of a call of one result, and gives the name of that.
    pub fn call(&mut self, call: &Call, operands: &[String], result: &TensorType) -> Result<String, NoForm> {
        let row = ROWS.iter().flat_map(|rows| rows.iter()).find(|(op, _)| op.is(call.op));
        let written = row.and_then(|(_, write)| write(self, call, operands, result));
        written.ok_or_else(|| {
            let types: Vec<String> = call.operands.iter().map(TensorType::to_string).collect();
            NoForm { operator: call.op.name, operands: format!("({})", types.join(", ")) }
        })
    }

    /// The file.
    pub fn bytes(self) -> Vec<u8> {
        let model = ModelProto {
            ir_version: IR_VERSION,
            producer_name: "fusion".to_owned(),
            graph: Some(self.graph),
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPERATOR_SET }],
            ..ModelProto::default()
        };
        model.encode_to_vec()
    }

    fn fresh(&mut self) -> String {
        self.made += 1;
        format!("t{}", self.made)
    }

    fn push(&mut self, op: &str, inputs: &[&str], outputs: Vec<String>, attribute: Vec<AttributeProto>) {
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            name: outputs.first().cloned().unwrap_or_default(),
            output: outputs,
            op_type: op.to_owned(),
            attribute,
            ..NodeProto::default()
        });
    }

    /// A node of one result. Operands that are left out have no name.
    fn node(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attr)]) -> String {
        let result = self.fresh();
        let attributes = attributes.iter().map(|(name, value)| attribute(name, value)).collect();
        self.push(op, inputs, vec![result.clone()], attributes);
        result
    }

    /// A list of integers as a constant.
    fn ints(&mut self, values: &[i64]) -> Option<String> {
        Some(self.constant(&Tensor::from_slice(&[values.len()], values).ok()?))
    }

    /// A number of an element type as a constant without axes.
    fn number(&mut self, dtype: DType, value: f64) -> Option<String> {
        Some(self.constant(&Tensor::from_f64s(dtype, &[], &[value]).ok()?))
    }

    /// Nodes of several roundings in f32 where the result is of a half type: the operator rounds once, and what the digits in
    /// between leave out may be all that a difference behind it sees.
    fn in_f32(
        &mut self,
        call: &Call,
        operands: &[String],
        result: &TensorType,
        write: Write,
    ) -> Option<String> {
        let dtype = if result.dtype.size() < DType::F32.size() { DType::F32 } else { result.dtype };
        if !result.dtype.is_float() || dtype == result.dtype {
            return write(self, call, operands, result);
        }
        let wide = |ty: &TensorType| match ty.dtype.is_float() {
            true => TensorType { dtype, ..ty.clone() },
            false => ty.clone(),
        };
        let types: Vec<TensorType> = call.operands.iter().map(wide).collect();
        let mut given = Vec::new();
        for ((from, to), operand) in call.operands.iter().zip(&types).zip(operands) {
            given.push(self.cast(operand, from.dtype, to.dtype));
        }
        let value = write(self, &Call { operands: &types, ..*call }, &given, &wide(result))?;
        Some(self.cast(&value, dtype, result.dtype))
    }

    /// The value converted, where that is not its element type.
    fn cast(&mut self, value: &str, from: DType, to: DType) -> String {
        match from == to {
            true => value.to_owned(),
            false => self.node("Cast", &[value], &[("to", i64::from(number_of(to)).into())]),
        }
    }
}

fn attribute(name: &str, value: &Attr) -> AttributeProto {
    let named = |r#type| AttributeProto { name: name.to_owned(), r#type, ..AttributeProto::default() };
    match value {
        Attr::Float(v) => AttributeProto { f: Some(*v as f32), ..named(1) },
        Attr::Int(v) => AttributeProto { i: Some(*v), ..named(2) },
        Attr::Bool(v) => AttributeProto { i: Some((*v).into()), ..named(2) },
        Attr::Str(v) => AttributeProto { s: Some(Bytes::from(v.clone())), ..named(3) },
        Attr::Type(v) => AttributeProto { i: Some(number_of(*v).into()), ..named(2) },
        Attr::Floats(v) => AttributeProto { floats: v.iter().map(|&v| v as f32).collect(), ..named(6) },
        Attr::Ints(v) => AttributeProto { ints: v.clone(), ..named(7) },
        // Extents that are names are no attributes of nodes.
        Attr::Dim(_) | Attr::Dims(_) => named(0),
    }
}

fn port(name: &str, ty: &TensorType) -> ValueInfoProto {
    let dim = |dim: &Dim| DimensionProto {
        value: match dim {
            Dim::Any => None,
            Dim::Static(n) => Some(dimension_proto::Value::DimValue(*n as i64)),
            named => Some(dimension_proto::Value::DimParam(named.to_string())),
        },
    };
    let tensor = TensorTypeProto {
        elem_type: number_of(ty.dtype),
        shape: Some(TensorShapeProto { dim: ty.dims.iter().map(dim).collect() }),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { value: Some(type_proto::Value::Tensor(tensor)) }),
    }
}

/// A tensor as backend tests keep inputs and outputs: `input_0.pb`.
pub fn tensor_file(name: &str, tensor: &Tensor) -> Vec<u8> {
    proto_of(name, tensor, 8).encode_to_vec()
}

/// Whether an operator has a form, of some attributes and element types at least.
pub fn has_form(op: &Operator) -> bool {
    ROWS.iter().flat_map(|rows| rows.iter()).any(|(own, _)| own.is(op))
}

/// The extents that are known, all of them.
fn extents(ty: &TensorType) -> Option<Vec<i64>> {
    ty.shape()?.into_iter().map(|n| i64::try_from(n).ok()).collect()
}
