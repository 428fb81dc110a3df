//! Small models for the tests, written as messages, and a builder that only infers types.
#![allow(dead_code)]

use std::cell::RefCell;

use fusion_importers::onnx::ImportError;
use fusion_importers::onnx::emit::{Emit, EmitError, Fill, Held, Id, ListOp, Region};
use fusion_importers::onnx::proto::*;
use fusion_importers::onnx::{Model, Options, eager};
use fusion_operators::{Attrs, Operator, Tensor, TensorType};

/// A model of one graph with operator set 17.
pub fn model(graph: GraphProto) -> ModelProto {
    ModelProto { ir_version: 8, graph: Some(graph), opset_import: vec![opset("", 17)], ..Default::default() }
}

pub fn loaded(proto: ModelProto) -> Model {
    Model { proto, directory: None }
}

pub fn opset(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: domain.into(), version }
}

pub fn graph(nodes: Vec<NodeProto>, inputs: Vec<ValueInfoProto>, outputs: &[&str]) -> GraphProto {
    let output = outputs.iter().map(|name| ValueInfoProto { name: (*name).into(), r#type: None }).collect();
    GraphProto { node: nodes, name: "g".into(), input: inputs, output, ..Default::default() }
}

/// A node named as its first result.
pub fn node(op_type: &str, inputs: &[&str], outputs: &[&str], attributes: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|s| (*s).into()).collect(),
        output: outputs.iter().map(|s| (*s).into()).collect(),
        name: format!("n_{}", outputs.first().unwrap_or(&"")),
        op_type: op_type.into(),
        attribute: attributes,
        ..Default::default()
    }
}

/// A tensor input; an extent is a number or a name.
pub fn input(name: &str, element: i32, dims: &[&str]) -> ValueInfoProto {
    let dim = |text: &&str| DimensionProto {
        value: Some(match text.parse() {
            Ok(n) => dimension_proto::Value::DimValue(n),
            Err(_) => dimension_proto::Value::DimParam((*text).into()),
        }),
    };
    let shape = Some(TensorShapeProto { dim: dims.iter().map(dim).collect() });
    let value = Some(type_proto::Value::Tensor(TensorTypeProto { elem_type: element, shape }));
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { value }) }
}

pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: 2, i: Some(value), ..Default::default() }
}

pub fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: 1, f: Some(value), ..Default::default() }
}

pub fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: name.into(),
        r#type: 3,
        s: Some(value.as_bytes().to_vec().into()),
        ..Default::default()
    }
}

pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: 7, ints: values.to_vec(), ..Default::default() }
}

pub fn subgraph(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: 5, g: Some(graph), ..Default::default() }
}

pub fn reference(name: &str, to: &str, kind: i32) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: kind, ref_attr_name: to.into(), ..Default::default() }
}

pub fn f32s(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: 1,
        float_data: values.to_vec(),
        ..Default::default()
    }
}

pub fn i64s(name: &str, dims: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: 7,
        int64_data: values.to_vec(),
        ..Default::default()
    }
}

/// A convolution with bias, padding and activation, pooled and flattened.
pub fn conv_model() -> ModelProto {
    let nodes = vec![
        node("Conv", &["x", "w", "b"], &["c"], vec![ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])]),
        node("LeakyRelu", &["c"], &["r"], vec![float("alpha", 0.5)]),
        node("MaxPool", &["r"], &["p"], vec![ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])]),
        node("Flatten", &["p"], &["y"], vec![int("axis", 1)]),
    ];
    let mut graph = graph(nodes, vec![input("x", 1, &["n", "1", "4", "4"])], &["y"]);
    graph.initializer = vec![f32s("w", &[2, 1, 3, 3], &[0.5; 18]), f32s("b", &[2], &[1.0, -40.0])];
    model(graph)
}

/// A reshape to a shape that is computed from the operand's.
pub fn reshape_model() -> ModelProto {
    let nodes = vec![
        node("Shape", &["x"], &["s"], vec![]),
        node("Gather", &["s", "zero"], &["n"], vec![int("axis", 0)]),
        node("Unsqueeze", &["n", "first"], &["n1"], vec![]),
        node("Concat", &["n1", "rest"], &["to"], vec![int("axis", 0)]),
        node("Reshape", &["x", "to"], &["y"], vec![]),
    ];
    let mut graph = graph(nodes, vec![input("x", 1, &["batch", "4", "6"])], &["y"]);
    graph.initializer =
        vec![i64s("zero", &[], &[0]), i64s("first", &[1], &[0]), i64s("rest", &[2], &[2, -1])];
    model(graph)
}

/// y = twice(x) with a function that takes a factor.
pub fn function_model() -> ModelProto {
    let mut call = node("Scaled", &["x"], &["y"], vec![float("factor", 2.0)]);
    call.domain = "local".into();
    let body = vec![
        node("Constant", &[], &["f"], vec![reference("value_float", "factor", 1)]),
        node("Mul", &["a", "f"], &["b"], vec![]),
    ];
    let function = FunctionProto {
        name: "Scaled".into(),
        domain: "local".into(),
        input: vec!["a".into()],
        output: vec!["b".into()],
        attribute: vec!["factor".into()],
        node: body,
        opset_import: vec![opset("", 17)],
        ..Default::default()
    };
    let mut model = model(graph(vec![call], vec![input("x", 1, &["2"])], &["y"]));
    model.opset_import.push(opset("local", 1));
    model.functions.push(function);
    model
}

/// Doubles while the sum is below 100; how often is not known.
pub fn loop_model() -> ModelProto {
    let mut body = graph(
        vec![
            node("Add", &["v", "v"], &["next"], vec![]),
            node("ReduceSum", &["next"], &["sum"], vec![int("keepdims", 0)]),
            node("Less", &["sum", "limit"], &["again"], vec![]),
        ],
        vec![input("i", 7, &[]), input("c", 9, &[]), input("v", 1, &["2"])],
        &["again", "next"],
    );
    body.initializer = vec![f32s("limit", &[], &[100.0])];
    let nodes = vec![node("Loop", &["count", "go", "x"], &["y"], vec![subgraph("body", body)])];
    let inputs = vec![input("count", 7, &[]), input("go", 9, &[]), input("x", 1, &["2"])];
    model(graph(nodes, inputs, &["y"]))
}

/// Runs a model on tensors.
pub fn run(model: ModelProto, options: &Options, inputs: &[Tensor]) -> Result<Vec<Tensor>, ImportError> {
    let results = eager::run(&loaded(model), options, inputs)?;
    Ok(results.into_iter().flat_map(|(_, tensors)| tensors).collect())
}

/// Infers types and computes nothing.
pub struct Types(pub RefCell<Vec<TensorType>>);

impl Types {
    fn push(&self, types: Vec<TensorType>) -> Vec<Id> {
        let mut all = self.0.borrow_mut();
        let first = all.len();
        all.extend(types);
        (first..all.len()).collect()
    }

    fn of(&self, ids: &[Id]) -> Vec<TensorType> {
        ids.iter().map(|&id| self.0.borrow()[id].clone()).collect()
    }
}

impl Emit for Types {
    fn location(&self, _: &str) {}

    fn op(&self, op: &'static Operator, operands: &[Id], attrs: &Attrs) -> Result<Vec<Id>, EmitError> {
        Ok(self.push(op.infer(&self.of(operands), attrs)?))
    }

    fn constant(&self, tensor: &Tensor) -> Id {
        self.push(vec![tensor.tensor_type()])[0]
    }

    fn tensor_type(&self, value: Id) -> Option<TensorType> {
        self.0.borrow().get(value).cloned()
    }

    fn if_(&self, _: Id, fill: Fill) -> Result<Vec<Id>, ImportError> {
        fill(Region::Then, &[])?;
        fill(Region::Else, &[])
    }

    fn while_(&self, state: &[Id], fill: Fill) -> Result<Vec<Id>, ImportError> {
        fill(Region::Condition, &self.push(self.of(state)))?;
        fill(Region::Body, &self.push(self.of(state)))
    }

    fn list(&self, op: ListOp, element: &TensorType, _: &[Id]) -> Result<Id, EmitError> {
        let (Held::Tensor(ty) | Held::List(ty)) = op.result(element);
        Ok(self.push(vec![ty])[0])
    }

    fn held_as(&self, _: Id, held: &Held) -> Id {
        let (Held::Tensor(ty) | Held::List(ty)) = held.clone();
        self.push(vec![ty])[0]
    }
}
