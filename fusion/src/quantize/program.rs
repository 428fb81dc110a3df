//! The program that is quantized: its layers, the edges that are simulated, and what they are in the model's file.

use crate::compilation::CompileOptions;
use crate::error::{DriverError, Error, failed};
use crate::language::{input_names, main_of, prepare, signature};
use crate::models::load_traced;
use crate::passes::register_passes;
use crate::shapes::dims;
use crate::source::{Format, Source};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Context, Module, Op, OpExt, OperationLike, Value, key, kind_of, module_op, name_of_location, run_passes,
    tensor_type_of, users,
};
use fusion_importers::onnx;
use fusion_operators::Operator;
use fusion_relay::quantize::simulated::{Simulated, simulated_in};
use std::collections::HashMap;

/// An operand that may be quantized.
pub struct Edge {
    /// Whether it is a weight.
    pub constant: bool,
    /// How many channels it has with scales of their own, if it has any.
    pub channels: Option<usize>,
    /// Elements of a weight; 0 of data.
    pub elements: u64,
    /// The input of the layer's node that it is in the file.
    pub input: usize,
}

/// A call whose operands may be quantized.
pub struct Layer {
    /// Where it comes from in the model.
    pub name: String,
    /// Its operator.
    pub operator: &'static Operator,
    /// Its edges, by their places in [`Program::edges`].
    pub edges: Vec<usize>,
    /// The node of an ONNX file.
    pub node: usize,
}

/// An annotated program.
pub struct Program<'c> {
    /// The program.
    pub module: Module<'c>,
    /// Inputs whose values it relies on.
    pub specialized: Vec<String>,
    /// Its layers.
    pub layers: Vec<Layer>,
    /// Its edges, in the order of their simulations.
    pub edges: Vec<Edge>,
    /// Calls that stay in floats though their rows allow more, and why.
    pub left: Vec<String>,
}

/// What a model takes, as it says.
pub fn ports(model: &Source, options: &CompileOptions) -> Result<Vec<super::samples::Port>, Error> {
    if model.format() == Format::Onnx {
        let loaded = crate::models::open_onnx(model)?;
        let given = onnx::Options { shapes: dims(&options.shapes), ..onnx::Options::default() };
        let inputs = onnx::signature(&loaded, &given).map_err(failed)?;
        let inputs = inputs.into_iter().filter(|input| !options.bound.contains_key(&input.name));
        return Ok(inputs.map(|input| super::samples::Port { name: input.name, ty: input.ty }).collect());
    }
    let context = fusion_dialects::load_context();
    let traced = load_traced(&context, model, &options.shapes, &options.bound)?;
    let root = module_op(&traced.module);
    let takes = main_of(root).and_then(signature).unwrap_or_default().0;
    let port = |(name, ty): (String, &fusion_dialects::Type)| {
        let ty = tensor_type_of(*ty)
            .ok_or_else(|| failed(format!("input {name:?} is of type {ty}, which is no tensor")))?;
        Ok(super::samples::Port { name, ty })
    };
    Ok(input_names(root).into_iter().zip(&takes).map(port).collect::<Result<_, DriverError>>()?)
}

impl<'c> Program<'c> {
    /// Imports and annotates a model.
    pub fn load(
        context: &'c Context,
        model: &Source,
        options: &CompileOptions,
    ) -> Result<Program<'c>, Error> {
        register_passes();
        let mut traced = load_traced(context, model, &options.shapes, &options.bound)?;
        options.run_passes(&traced.module)?;
        if prepare(&mut traced.module, model, options)? {
            return Err(Error::Quantize(
                "the model is a program of the whole language, or has extents that only running shows, and only models of operators on \
                 known extents are quantized; give its extents with --shape, if it is that"
                    .to_owned(),
            ));
        }
        run_passes(&traced.module, "builtin.module(func.func(relay-quantize-annotate))")
            .map_err(|errors| failed(errors.join("\n")))?;
        let onnx::Program { module, specialized, trace } = traced;
        let mut program =
            Program { module, specialized, layers: Vec::new(), edges: Vec::new(), left: Vec::new() };
        let graph = match model.format() {
            Format::Onnx => Some(crate::models::open_onnx(model)?),
            _ => None,
        };
        program.find_layers(&trace, graph.as_ref().map(onnx::Model::graph))?;
        match program.layers.is_empty() {
            false => Ok(program),
            true => Err(Error::Quantize(format!(
                "the model has nothing to quantize: no product of a weight whose operands are floats{}",
                program.left.iter().map(|why| format!("; {why}")).collect::<String>()
            ))),
        }
    }

    /// The entry function.
    pub fn main(&self) -> Result<Op<'c>, Error> {
        main_of(module_op(&self.module))
            .ok_or_else(|| Error::Quantize("the model has no function @main".to_owned()))
    }

    /// The simulations, in the order of the edges.
    pub fn simulated(&self) -> Result<Vec<Simulated<'c>>, Error> {
        Ok(simulated_in(self.main()?))
    }

    fn find_layers(
        &mut self,
        trace: &onnx::Trace<'c>,
        graph: Option<&onnx::proto::GraphProto>,
    ) -> Result<(), Error> {
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (node, value) in &trace.nodes {
            places.insert(key(*value), *node);
        }
        let node_of = |op: Op<'c>| op.result_values().first().and_then(|v| places.get(&key(*v)).copied());
        // Simulations of one call stand together.
        let mut groups: Vec<(Op<'c>, Vec<Simulated<'c>>)> = Vec::new();
        for edge in self.simulated()? {
            let Some(&user) = users(edge.op.result_values()[0]).first() else { continue };
            match groups.last_mut() {
                Some((op, edges)) if *op == user => edges.push(edge),
                _ => groups.push((user, vec![edge])),
            }
        }
        let mut products: HashMap<usize, usize> = HashMap::new();
        for node in groups.iter().filter_map(|(op, _)| node_of(*op)) {
            *products.entry(node).or_default() += 1;
        }
        for (op, edges) in groups {
            let Some(Kind::Operator(operator)) = kind_of(op) else { continue };
            let name = name_of_location(op.location());
            let inputs = match graph {
                None => Ok((0, vec![0; edges.len()])),
                Some(graph) => in_file(op, &edges, (trace, graph), node_of(op), &products),
            };
            let (node, inputs) = match inputs {
                Ok(found) => found,
                Err(why) => {
                    self.left.push(format!("{name} ({}) stays in floats: {why}", operator.name));
                    for edge in edges {
                        edge.op.replace_all_uses(&[edge.data()]);
                        edge.op.erase();
                    }
                    continue;
                }
            };
            let first = self.edges.len();
            for (edge, input) in edges.iter().zip(inputs) {
                let ty = edge.data_type();
                let extent =
                    |axis: usize| ty.as_ref().and_then(|ty| ty.dims.get(axis)?.known()).map(|n| n as usize);
                let constant = edge.is_constant();
                self.edges.push(Edge {
                    constant,
                    channels: edge.axis().and_then(extent),
                    elements: if constant {
                        ty.as_ref().and_then(|ty| ty.elements()).unwrap_or(0)
                    } else {
                        0
                    },
                    input,
                });
            }
            self.layers.push(Layer { name, operator, edges: (first..self.edges.len()).collect(), node });
        }
        Ok(())
    }

    /// Elements of the weights of a layer.
    pub fn weights(&self, layer: &Layer) -> u64 {
        layer.edges.iter().map(|&edge| self.edges[edge].elements).sum()
    }
}

/// The node of a product and the inputs that its operands are; or why there are none.
fn in_file<'c>(
    op: Op<'c>,
    edges: &[Simulated<'c>],
    (trace, graph): (&onnx::Trace<'c>, &onnx::proto::GraphProto),
    node: Option<usize>,
    products: &HashMap<usize, usize>,
) -> Result<(usize, Vec<usize>), String> {
    let found = node.and_then(|node| Some((node, graph.node.get(node)?)));
    let Some((node, proto)) = found else {
        return Err("no node of the model's own graph is this product".to_owned());
    };
    if products.get(&node).is_some_and(|n| *n > 1) {
        return Err(format!("{} is several products, and its inputs are those of all", proto.op_type));
    }
    let operands = op.operand_values();
    let is_name = |name: &str, value: Value<'c>| {
        trace.names.iter().any(|(known, named)| known == name && key(*named) == key(value))
    };
    let inputs = edges.iter().map(|edge| {
        let data = edge.data();
        let place = operands.iter().position(|v| key(*v) == key(edge.op.result_values()[0]));
        // The same value may be both operands.
        let mut order: Vec<usize> = place.into_iter().chain(0..proto.input.len()).collect();
        order.retain(|&input| input < proto.input.len());
        let input = order.into_iter().find(|&input| is_name(&proto.input[input], data));
        input.ok_or_else(|| {
            format!("an operand of it is none of the inputs of {}, but computed from them", proto.op_type)
        })
    });
    Ok((node, inputs.collect::<Result<_, _>>()?))
}
