//! `fusion run`: a model or a program, on tensors from a file where it takes any.

use super::device::Choice;
use super::executor::Executor;
use super::given::Given;
use super::options::Options;
use super::pool::{Elsewhere, Remote};
use crate::failure::Failure;
use crate::ports::output_names;
use crate::print;
use clap::Args;
use fusion::load;
use fusion::programs::{self, Inputs};
use fusion_operators::{Item, Tensor, ValueTree};
use fusion_runtime::vm::read_program;
use fusion_runtime::{Module, NativeProgram, npz};
use indexmap::IndexMap;
use std::path::PathBuf;

/// Run a model or a program, on tensors from a file where it takes any.
#[derive(Debug, Args)]
pub struct Run {
    /// The model, compiled (.so, .fbc) or not (.onnx, .relay, .mlir, .mlirbc, .jax).
    #[arg(value_name = "MODEL_OR_SO")]
    model: PathBuf,

    /// How to run it [default: graph for models of operators alone, aot for programs of the whole language].
    #[arg(long, value_name = "EXECUTOR", value_enum)]
    executor: Option<Executor>,

    #[command(flatten)]
    given: Given,

    /// Where to write the outputs by name; by default their first elements are printed.
    #[arg(long, value_name = "FILE.npz")]
    outputs: Option<PathBuf>,

    /// Threads to run on; 0 for one a processor [default: FUSION_THREADS, else 1].
    #[arg(long, value_name = "N")]
    threads: Option<u16>,

    /// The device to run on, such as cuda:0 or hip:1 [default: that of FUSION_DEVICE, else the first].
    #[arg(long, value_name = "DEVICE", conflicts_with = "executor")]
    device: Option<Choice>,

    #[command(flatten)]
    elsewhere: Elsewhere,

    #[command(flatten)]
    options: Options,
}

impl Run {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.options.fit(&self.model)?;
        let inputs = self.given.read()?;
        if let Some(remote) = Remote::of(&self.model, &self.elsewhere, &self.options)? {
            return self.elsewhere(&remote, only_tensors(inputs)?);
        }
        if programs::is_bytecode(&self.model)? {
            return match self.executor {
                None | Some(Executor::Vm) => {
                    if let Some(asked) = self.device {
                        let (asked, target) = (asked.to_string(), "the processor".to_owned());
                        return Err(Failure::OtherDevice { asked, target });
                    }
                    let file = read_program(&self.model)?;
                    self.show(&programs::run_bytecode(file, self.threads, inputs)?)
                }
                Some(_) => Err(Failure::Compiled(self.model.clone())),
            };
        }
        if load::is_compiled(&self.model)? {
            if self.executor.is_some() {
                return Err(Failure::Compiled(self.model.clone()));
            }
            return match NativeProgram::load(&self.model)? {
                Some(program) => {
                    Choice::apply(self.device, program.module())?;
                    self.show(&programs::run_native(&program, self.threads, inputs)?)
                }
                None => self.graph(Module::load(&self.model)?, only_tensors(inputs)?),
            };
        }
        let options = self.options.resolve()?;
        let executor = match self.executor {
            Some(executor) => executor,
            None if programs::may_be_program(&self.model) && programs::is_program(&self.model, &options)? => {
                Executor::Aot
            }
            None => Executor::Graph,
        };
        match executor {
            Executor::Interp => self.show(&programs::interpret(&self.model, &options, inputs)?),
            Executor::Vm => {
                let file = programs::bytecode(&self.model, &options)?;
                self.show(&programs::run_bytecode(file, self.threads, inputs)?)
            }
            Executor::Aot => {
                let compiled = programs::native(&self.model, &options)?;
                let program = programs::linked(&compiled)?.ok_or(Failure::NoProgram)?;
                Choice::apply(self.device, program.module())?;
                self.show(&programs::run_native(&program, self.threads, inputs)?)
            }
            Executor::Graph => match load::load_for(&self.model, &options, &tensors_among(&inputs))?.0 {
                load::Runnable::Model(module) => self.graph(*module, only_tensors(inputs)?),
                load::Runnable::Program(_) if self.executor.is_some() => {
                    Err(Failure::NoGraph(self.model.clone()))
                }
                load::Runnable::Program(program) => {
                    Choice::apply(self.device, program.module())?;
                    self.show(&programs::run_native(&program, self.threads, inputs)?)
                }
            },
        }
    }

    /// Runs a model of operators and shows its outputs by name; as one value where a way of running was asked for.
    fn graph(&self, module: Module, tensors: IndexMap<String, Tensor>) -> Result<(), Failure> {
        if let Some(threads) = self.threads {
            module.set_threads(threads);
        }
        Choice::apply(self.device, &module)?;
        let outputs = module.run(&module.bind(tensors)?)?;
        let names = module.description().outputs.iter().map(|o| o.name.as_str());
        if self.outputs.is_none() && self.executor.is_some() {
            let values = outputs.iter().cloned().map(ValueTree::tensor).collect();
            return print::line(programs::joined(values));
        }
        self.show_named(names.zip(&outputs))
    }

    /// Runs a model on a device of a pool.
    fn elsewhere(&self, remote: &Remote, tensors: IndexMap<String, Tensor>) -> Result<(), Failure> {
        if self.executor.is_some() {
            return Err(Failure::OnlyHere("--executor"));
        }
        if self.device.is_some() {
            return Err(Failure::OnlyHere("--device"));
        }
        let description = remote.description();
        let (outputs, _) = remote.run(&description.bind(tensors)?, self.threads.unwrap_or(1), None)?;
        let names = description.outputs.iter().map(|output| output.name.as_str());
        self.show_named(names.zip(&outputs))
    }

    /// Shows outputs by name.
    fn show_named<'a>(&self, mut named: impl Iterator<Item = (&'a str, &'a Tensor)>) -> Result<(), Failure> {
        match &self.outputs {
            Some(path) => Ok(npz::write(path, named)?),
            None => named.try_for_each(|(name, tensor)| print::line(format_args!("{name}: {tensor:?}"))),
        }
    }

    /// Shows the value of a program.
    fn show(&self, value: &ValueTree) -> Result<(), Failure> {
        match &self.outputs {
            Some(path) => {
                let mut tensors = programs::tensors_of(value)?;
                // A library has been told them, or not; of a model they are the same whatever it is run by.
                let is_model = !programs::is_bytecode(&self.model)? && !load::is_compiled(&self.model)?;
                let names = if is_model { output_names(&self.model)? } else { Vec::new() };
                for ((name, _), given) in tensors.iter_mut().zip(names) {
                    *name = given.unwrap_or_else(|| std::mem::take(name));
                }
                Ok(npz::write(path, tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)))?)
            }
            None => print::line(value),
        }
    }
}

/// Those of some inputs that are tensors.
fn tensors_among(inputs: &Inputs) -> IndexMap<String, Tensor> {
    let tensor = |(name, value): (&String, &ValueTree)| match value.items.as_slice() {
        [Item::Tensor(tensor)] => Some((name.clone(), tensor.clone())),
        _ => None,
    };
    inputs.iter().filter_map(tensor).collect()
}

/// What models of operators alone are run on.
pub fn only_tensors(inputs: Inputs) -> Result<IndexMap<String, Tensor>, Failure> {
    let tensor = |(name, value): (String, ValueTree)| match value.items.as_slice() {
        [Item::Tensor(tensor)] => Ok((name, tensor.clone())),
        _ => Err(Failure::Inputs(format!("the input {name:?} of a model is no tensor, but {value}"))),
    };
    inputs.into_iter().map(tensor).collect()
}
