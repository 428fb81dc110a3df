//! A compiled program whose quantization is an input: one compilation serves all that is tried.
//!
//! ```text
//!   @main(x)  with  sim(x, 0, 0, 0, 255)     =>     @main(x, scale, zero, least, most)  with  sim(x, scale, zero, least, most)
//!             gives y                                          gives y, and each value that is quantized
//! ```

use super::program::Program;
use crate::compilation::CompileOptions;
use crate::driver::compile_graph;
use crate::error::Error;
use crate::language::{input_names, main_of};
use crate::load::linked;
use fusion_conversion::description::NAME;
use fusion_dialects::{
    BlockLike, Build, Context, OpExt, OperationLike, Type, Value, ValueLike, arguments, array_attr,
    array_elements, dict_attr, function_type, key, module_copy, module_op, ops_in, str_attr,
    tensor_type_to_mlir, type_attr,
};
use fusion_egraph::Strategy;
use fusion_operators::{Tensor, TensorType};
use fusion_relay::quantize::parameters::{Numbers, Parameters};
use fusion_relay::quantize::simulated::simulated_in;
use fusion_runtime::Module;

/// How an edge is quantized.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Scales and zero points.
    pub parameters: Parameters,
    /// The whole numbers.
    pub numbers: Numbers,
}

impl Choice {
    /// Not at all.
    pub fn float() -> Choice {
        Choice { parameters: Parameters::none(), numbers: Numbers { least: 0.0, most: 255.0 } }
    }
}

/// Where a value that is quantized is seen.
#[derive(Clone, Copy)]
pub enum Seen {
    /// It is an input of the model.
    Input(usize),
    /// It is a result.
    Result(usize),
}

/// The types of an edge's settings.
struct Ports {
    scales: TensorType,
    one: TensorType,
}

/// A compiled program.
pub struct Probe {
    module: Module,
    ports: Vec<Ports>,
    /// How many results are the model's.
    pub outputs: usize,
    /// Where each edge is seen; weights are not.
    pub seen: Vec<Option<Seen>>,
}

impl Probe {
    /// Compiles a program.
    pub fn compile(context: &Context, program: &Program, options: &CompileOptions) -> Result<Probe, Error> {
        let broken =
            |what: &str| Error::Quantize(format!("the program {what}, so that it cannot be observed"));
        let copy = module_copy(module_op(&program.module)).ok_or_else(|| broken("is no module"))?;
        let root = module_op(&copy);
        let names = input_names(root);
        let main = main_of(root).ok_or_else(|| broken("has no function @main"))?;
        let body = main.body(0).ok_or_else(|| broken("has no body"))?;
        let end = ops_in(body).last().copied().ok_or_else(|| broken("has no end"))?;
        let taken = arguments(body);
        let mut results: Vec<Value> = end.operand_values();
        let outputs = results.len();
        let (mut ports, mut seen, mut input_attrs) = (Vec::new(), Vec::new(), Vec::new());
        input_attrs.extend(names.iter().map(|name| dict_attr(context, &[(NAME, str_attr(context, name))])));
        for (i, (edge, facts)) in simulated_in(main).into_iter().zip(&program.edges).enumerate() {
            let ty = edge.data_type().ok_or_else(|| broken("quantizes what is no tensor"))?;
            let one = TensorType::fixed(&[], ty.dtype);
            let scales = match (facts.channels, edge.axis()) {
                (Some(channels), Some(axis)) => {
                    let extents: Vec<u64> =
                        (0..ty.rank()).map(|a| if a == axis { channels as u64 } else { 1 }).collect();
                    TensorType::fixed(&extents, ty.dtype)
                }
                _ => one.clone(),
            };
            for (place, (what, ty)) in
                [("scale", &scales), ("zero", &scales), ("least", &one), ("most", &one)]
                    .into_iter()
                    .enumerate()
            {
                let argument: Value = body.add_argument(tensor_type_to_mlir(context, ty), main.location());
                edge.op.set_operand_value(place + 1, argument);
                let name = format!("quantize.{i}.{what}");
                input_attrs.push(dict_attr(context, &[(NAME, str_attr(context, &name))]));
            }
            ports.push(Ports { scales, one });
            let data = key(edge.data());
            seen.push(match facts.constant {
                true => None,
                false => Some(match taken.iter().position(|argument| key(*argument) == data) {
                    Some(input) => Seen::Input(input),
                    None => Seen::Result(results.iter().position(|v| key(*v) == data).unwrap_or_else(|| {
                        results.push(edge.data());
                        results.len() - 1
                    })),
                }),
            });
        }
        Build::before(end).op("func.return", &results, &[], &[]);
        end.erase();
        let result_attrs = main.attr("res_attrs").map(array_elements).unwrap_or_default();
        let mut result_attrs: Vec<_> = (0..outputs)
            .map(|i| result_attrs.get(i).copied().unwrap_or_else(|| dict_attr(context, &[])))
            .collect();
        result_attrs.extend(
            (outputs..results.len())
                .map(|i| dict_attr(context, &[(NAME, str_attr(context, &format!("quantize.{i}")))])),
        );
        let inputs: Vec<Type> = arguments(body).iter().map(|v| v.r#type()).collect();
        let given: Vec<Type> = results.iter().map(|v| v.r#type()).collect();
        main.set_attr("function_type", type_attr(function_type(context, &inputs, &given)));
        main.set_attr("arg_attrs", array_attr(context, &input_attrs));
        main.set_attr("res_attrs", array_attr(context, &result_attrs));
        // It runs a few times: groups of operators by rules of thumb are found at once, and the best ones may take a minute.
        let options = CompileOptions { strategy: Strategy::Relay, rules_off: Vec::new(), ..options.clone() };
        let compiled = compile_graph(context, &copy, &program.specialized, "probe".to_owned(), &options)?;
        Ok(Probe { module: linked(&compiled)?, ports, outputs, seen })
    }

    /// Runs it: gives the model's results, and behind them what is seen.
    pub fn run(&self, inputs: &[Tensor], choices: &[Choice]) -> Result<Vec<Tensor>, Error> {
        let mut all = inputs.to_vec();
        for (choice, ports) in choices.iter().zip(&self.ports) {
            let Choice { parameters, numbers } = choice;
            all.push(filled(&ports.scales, &parameters.scales)?);
            all.push(filled(&ports.scales, &parameters.zeros)?);
            all.push(filled(&ports.one, &[numbers.least])?);
            all.push(filled(&ports.one, &[numbers.most])?);
        }
        Ok(self.module.run(&all)?)
    }

    /// How many threads it runs on.
    pub fn set_threads(&self, threads: u16) {
        self.module.set_threads(threads);
    }
}

/// One number for each element, or one for all.
fn filled(ty: &TensorType, values: &[f64]) -> Result<Tensor, Error> {
    let shape: Vec<usize> = ty.shape().unwrap_or_default().into_iter().map(|n| n as usize).collect();
    let count = shape.iter().product::<usize>();
    let values = if values.len() == count {
        values.to_vec()
    } else {
        vec![values.first().copied().unwrap_or(0.0); count]
    };
    Ok(Tensor::from_f64s(ty.dtype, &shape, &values)?)
}
