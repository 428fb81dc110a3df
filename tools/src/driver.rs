//! The facade over the compiler: the few functions the commands need of it.

use crate::bind::bind;
pub use crate::ports::{Port, onnx_ports, output_names, read_onnx_tensors};
pub use crate::target::{HOST, Target, TargetError, facts, file_of_host, targets};
use crate::{print, programs, validate};
use fusion_conversion::cache::Cache;
use fusion_conversion::compile::{self as conversion, Settings, Timings};
use fusion_conversion::description;
use fusion_conversion::planning::Planning;
pub use fusion_conversion::planning::{LOOPS, switches};
use fusion_conversion::targets::gpu::Device;
use fusion_conversion::targets::gpu::resources::{self, Resources};
use fusion_dialects::module::FpMath;
use fusion_dialects::{Context, Module, parse_file, run_passes};
pub use fusion_egraph::Strategy;
use fusion_egraph::remarks::Remarks;
use fusion_importers::{onnx, relay_text};
use fusion_operators::Tensor;
use fusion_runtime::ModelDescription;
use fusion_runtime::description::{ArgumentDescription, KernelDescription};
use fusion_runtime::object_file::Constants;
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// How much of what is known of a program of the whole language is run when compiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Unfold {
    /// All of it that ends within the fuel.
    Always,
    /// All of it, where that leaves a graph of operators that is not large.
    Bounded,
    /// Nothing.
    #[default]
    Never,
}

/// How to compile.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    /// What for.
    pub target: Target,
    /// 0 (fast to compile) to 3 (fast to run): how far LLVM optimises, and with 0 the command line chooses [`Strategy::None`].
    pub opt_level: u8,
    /// Extents of inputs whose shapes the model leaves dynamic, by input.
    pub shapes: IndexMap<String, Vec<u64>>,
    /// Inputs that become constants.
    pub bound: IndexMap<String, Tensor>,
    /// Files of schedules written by hand.
    pub schedules: Vec<PathBuf>,
    /// How kernels are chosen.
    pub strategy: Strategy,
    /// How much of a program of the whole language is run first, so that nets of a fixed length become straight code.
    pub unfold: Unfold,
    /// What arithmetic of floats may be taken for, in place of what the model says.
    pub fp_math: Option<FpMath>,
    /// Families of rules that are left out, of [`switches`].
    pub rules_off: Vec<&'static str>,
    /// Whether the reasons of what was chosen are wanted, and the kernels as programs of their own.
    pub explain: bool,
    /// Whether it is also wanted by which rules values are computed as they are.
    pub proofs: bool,
    /// How many kernels are compiled at a time; by default one a processor.
    pub jobs: Option<usize>,
    /// Whether the code is run by this process, so that it may stay in memory.
    pub jit: bool,
    /// Whether the weights lie in a file of their own, from which they are mapped before the first run.
    pub weights_outside: bool,
    /// Whether, and how, passes are validated.
    pub validate: Option<validate::Settings>,
}

impl CompileOptions {
    /// Those that nobody gave, for a target.
    pub fn for_target(target: Target) -> CompileOptions {
        CompileOptions {
            target,
            opt_level: 3,
            shapes: IndexMap::new(),
            bound: IndexMap::new(),
            schedules: Vec::new(),
            strategy: Strategy::EGraph,
            unfold: Unfold::Never,
            fp_math: None,
            rules_off: Vec::new(),
            explain: false,
            proofs: false,
            jobs: None,
            jit: false,
            weights_outside: false,
            validate: None,
        }
    }
}

impl CompileOptions {
    /// Those of one of the model's kernels as a program of its own, whose inputs and schedules are not the model's.
    pub fn of_kernel(&self) -> CompileOptions {
        CompileOptions {
            shapes: IndexMap::new(),
            bound: IndexMap::new(),
            schedules: Vec::new(),
            explain: false,
            ..self.clone()
        }
    }
}

/// A compiled model.
pub struct Compiled {
    /// What it takes and gives, and its kernels.
    pub description: ModelDescription,
    /// Its code.
    pub code: Code,
    /// Its weights.
    pub constants: OwnedConstants,
    /// What is predicted of each of its kernels.
    pub predicted: Vec<Predicted>,
    /// What each of its kernels takes of a GPU, launch by launch, where [`CompileOptions::explain`] asks for it.
    pub launches: Vec<Vec<Resources>>,
    /// Why the kernels are what they are; for strategies that decide by cost, where [`CompileOptions::explain`] asks for it.
    pub remarks: Option<Remarks>,
    /// Its kernels as programs of their own, by name, where [`CompileOptions::explain`] asks for them.
    pub programs: IndexMap<String, String>,
}

/// What is predicted of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Seconds of a run on one core.
    pub seconds: f64,
    /// How often it runs, by the loops of known length that it is in.
    pub runs: u64,
}

impl Predicted {
    /// Of a kernel of a compilation.
    pub(crate) fn of(kernel: &conversion::Kernel) -> Predicted {
        Predicted { seconds: kernel.seconds, runs: kernel.runs }
    }
}

/// The code of a compiled model.
pub enum Code {
    /// Relocatable ELF objects, and the libraries they need besides the C and mathematical ones.
    Objects {
        /// The objects.
        objects: Vec<Vec<u8>>,
        /// The libraries, without `lib` and suffix.
        libraries: Vec<String>,
    },
    /// Code in memory, with its constants; only where [`CompileOptions::jit`] asks for it.
    Memory(Box<fusion_runtime::Module>),
}

/// Weights, kept with the compiled model.
#[derive(Default)]
pub struct OwnedConstants {
    /// Bytes of the block they lie in.
    pub size: u64,
    /// Offsets and contents, in ascending order.
    pub pieces: Vec<(u64, Vec<u8>)>,
}

impl OwnedConstants {
    /// The same, borrowed.
    pub fn borrow(&self) -> Constants<'_> {
        Constants { size: self.size, pieces: self.pieces.iter().map(|(at, b)| (*at, b.as_slice())).collect() }
    }
}

/// Why the compiler gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The model uses something that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The input must be known when compiling.
    #[error("input {0:?} of the model must be known when compiling; give it with --bind {0}=FILE.npy")]
    NeedsConstant(String),
    /// Programs are for processors.
    #[error(
        "a program of the whole language (functions as values, data, references, recursion), or bytecode, runs on a processor, \
         and {0} is a GPU; leave --target away, or compile a model of operators alone"
    )]
    NoPrograms(String),
    /// The model is wrong, or the compiler is.
    #[error("{0}")]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// Models above this many bytes of text are not read.
const MOST_TEXT_BYTES: u64 = 1 << 30;

/// Compiles a model: ONNX, Relay text or MLIR, by its file extension.
pub fn compile(model: &Path, options: &CompileOptions) -> Result<Compiled, DriverError> {
    crate::register_passes();
    let context = fusion_dialects::load_context();
    let (mut module, specialized) = load_module(&context, model, &options.shapes, &options.bound)?;
    if programs::prepare(&mut module, model, options)? {
        return programs::ahead_of_time(&context, &module, model, options);
    }
    let scratch = options.explain.then(tempfile::tempdir).transpose().map_err(failed)?;
    let remarks = scratch.as_ref().map(|directory| directory.path().join("remarks.json"));
    let settings = settings(options, remarks.clone());
    let report = options.validate.clone().map(|settings| {
        // What a function calls is run with it, so nobody else may change the module.
        context.enable_multi_threading(false);
        validate::start(settings)
    });
    let compilation = conversion::compile(&module, &settings).map_err(failed);
    if let Some(report) = report {
        for line in report.lock().unwrap_or_else(std::sync::PoisonError::into_inner).lines() {
            print::aside(line);
        }
    }
    let compilation = compilation?;
    if std::env::var_os("FUSION_TIMING").is_some() {
        tell(&compilation.timings, settings.jobs);
    }
    for name in &specialized {
        print::aside(format_args!("note: the compiled model is for the given value of input {name:?}"));
    }
    let mut inputs =
        compilation.signature.inputs.iter().map(argument).collect::<Result<Vec<_>, DriverError>>()?;
    for input in inputs.iter_mut().filter(|input| specialized.contains(&input.name)) {
        input.value = options.bound.get(&input.name).map(|value| value.bytes().to_vec());
    }
    let predicted = compilation.kernels.iter().map(Predicted::of).collect();
    let remarks = self::remarks(remarks)?;
    let launches = match settings.device.as_ref().filter(|_| options.explain) {
        Some(device) => launches(device, &compilation)?,
        None => Vec::new(),
    };
    let mut kernels: Vec<KernelDescription> = compilation.kernels.into_iter().map(kernel).collect();
    for kernel in kernels.iter_mut().filter(|_| settings.device.is_some()) {
        kernel.function = compilation.places.get(&kernel.name).map(|(function, _)| function.clone());
    }
    let description = ModelDescription {
        name: name_of(model),
        target: options.target.name.clone(),
        inputs,
        outputs: compilation.signature.outputs.iter().map(argument).collect::<Result<_, _>>()?,
        kernels,
        program: None,
        device: options.target.device().and_then(runs_on),
        workspace_bytes: compilation.workspace_bytes,
    };
    let size = compilation.constants.len() as u64;
    let pieces = if size > 0 { vec![(0, compilation.constants)] } else { Vec::new() };
    let code = Code::Objects { objects: compilation.objects, libraries: Vec::new() };
    let (constants, programs) = (OwnedConstants { size, pieces }, compilation.programs);
    Ok(Compiled { description, code, constants, predicted, launches, remarks, programs })
}

/// What a compilation wrote into a file for its remarks.
pub(crate) fn remarks(file: Option<PathBuf>) -> Result<Option<Remarks>, DriverError> {
    match file.filter(|file| file.exists()) {
        Some(file) => {
            Ok(Some(serde_json::from_slice(&std::fs::read(file).map_err(failed)?).map_err(failed)?))
        }
        None => Ok(None),
    }
}

/// What each kernel launches.
fn launches(
    device: &Device,
    compilation: &conversion::Compilation,
) -> Result<Vec<Vec<Resources>>, DriverError> {
    let assembler = resources::assembler();
    let mut read: IndexMap<usize, Vec<Resources>> = IndexMap::new();
    let mut all = Vec::new();
    for kernel in &compilation.kernels {
        let Some((symbol, at)) = compilation.places.get(&kernel.name) else {
            all.push(Vec::new());
            continue;
        };
        if !read.contains_key(at) {
            let object = compilation.objects.get(*at).map_or(&[][..], Vec::as_slice);
            read.insert(*at, resources::of_object(device, object, assembler.as_deref()).map_err(failed)?);
        }
        let own = |r: &&Resources| {
            let number = r.name.strip_prefix(symbol.as_str()).and_then(|rest| rest.strip_prefix('_'));
            number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        };
        all.push(read.get(at).into_iter().flatten().filter(own).cloned().collect());
    }
    Ok(all)
}

/// What the run time calls what runs kernels.
fn runs_on(device: &Device) -> Option<fusion_runtime::gpu::Device> {
    use fusion_runtime::gpu::Device::{Cuda, Emulated, Hip};
    let number = device.number() as usize;
    [Cuda, Hip, Emulated].get(number.checked_sub(1)?).copied()
}

/// How the compiler is set for these options.
pub(crate) fn settings(options: &CompileOptions, remarks: Option<PathBuf>) -> Settings {
    let mut processor = options.target.processor.clone();
    processor.target.optimization = options.opt_level.into();
    Settings {
        processor,
        device: options.target.device.clone(),
        planning: Planning {
            strategy: options.strategy,
            off: options.rules_off.clone(),
            remarks,
            proofs: options.proofs,
            check: options.validate.as_ref().map_or(0, |v| v.budget.flops as u64),
        },
        fp_math: options.fp_math,
        programs: options.explain,
        weights_outside: options.weights_outside,
        jobs: options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        cache: Cache::from_environment(),
        schedules: options.schedules.clone(),
    }
}

/// The name of a model, an identifier, from that of its file.
pub(crate) fn name_of(model: &Path) -> String {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

pub(crate) fn tell(timings: &Timings, jobs: usize) {
    let Timings { program, kernels, compiled, cached } = timings;
    for (stage, seconds) in program {
        print::aside(format_args!("{seconds:9.3} s  {stage}"));
    }
    print::aside(format_args!(
        "kernels: {compiled} that differ, {cached} from the cache; the others, at most {jobs} at a time:"
    ));
    for (stage, seconds) in kernels {
        print::aside(format_args!("{seconds:9.3} s  {stage}"));
    }
}

fn argument(port: &description::Port) -> Result<ArgumentDescription, DriverError> {
    let shape =
        port.ty.shape().ok_or_else(|| failed(format!("the shape of {:?} is not known", port.name)))?;
    let shape = shape.into_iter().map(|n| n as usize).collect();
    Ok(ArgumentDescription { name: port.name.clone(), dtype: port.ty.dtype, shape, value: None })
}

pub(crate) fn kernel(kernel: conversion::Kernel) -> KernelDescription {
    let conversion::Kernel { name, operators, flops, bytes, .. } = kernel;
    KernelDescription { name, function: None, operators, flops: Some(flops), bytes: Some(bytes) }
}

pub(crate) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DriverError {
    DriverError::Failed(error.into())
}

/// Imports or parses a model; gives the names of inputs whose values it relies on as well.
pub(crate) fn load_module<'c>(
    context: &'c Context,
    model: &Path,
    shapes: &IndexMap<String, Vec<u64>>,
    bound: &IndexMap<String, Tensor>,
) -> Result<(Module<'c>, Vec<String>), DriverError> {
    if model.extension().is_some_and(|e| e == "mlir") {
        let size = std::fs::metadata(model)
            .map_err(|e| failed(format!("cannot read {}: {e}", model.display())))?
            .len();
        if size > MOST_TEXT_BYTES {
            return Err(failed(format!(
                "{} has {size} bytes, at most {MOST_TEXT_BYTES} are read",
                model.display()
            )));
        }
        let module = parse_file(context, model).map_err(|errors| failed(errors.join("\n")))?;
        bind(&module, bound)?;
        return Ok((module, Vec::new()));
    }
    if model.extension().is_some_and(|e| e == "relay" || e == "rly") {
        crate::register_passes();
        let module = relay_text::import_file(context, model).map_err(failed)?;
        run_passes(&module, "builtin.module(relay-infer-types)")
            .map_err(|errors| failed(errors.join("\n")))?;
        bind(&module, bound)?;
        return Ok((module, Vec::new()));
    }
    let loaded = onnx::Model::open(model).map_err(|e| failed(format!("{}: {e}", model.display())))?;
    let known = onnx::signature(&loaded, &onnx::Options::default());
    // Shapes may be given for inputs that are none of the model's graph; those are the caller's business.
    let mut shapes = shapes.clone();
    if let Ok(inputs) = &known {
        shapes.retain(|name, _| inputs.iter().any(|i| i.name == *name));
    }
    let onnx_options = onnx::Options { bound: bound.clone(), shapes };
    let program =
        onnx::import_module(context, &loaded, &onnx_options).map_err(|error| match error.needed_input() {
            Some(input) => DriverError::NeedsConstant(input.to_owned()),
            None if error.is_unsupported() => DriverError::Unsupported(error.to_string()),
            None => failed(format!("{}: {error}", model.display())),
        })?;
    Ok((program.module, program.specialized))
}

/// Imports a model into the relay dialect and gives its text.
pub fn import(model: &Path) -> Result<String, DriverError> {
    let context = fusion_dialects::load_context();
    let (module, _) = load_module(&context, model, &IndexMap::new(), &IndexMap::new())?;
    Ok(format!("{}\n", module.as_operation()))
}
