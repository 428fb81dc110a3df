//! What a compilation takes and gives: options, and a compiled model.

use crate::error::{DriverError, failed};
use crate::shapes::Axis;
use crate::target::Target;
use crate::{notes, validate};
use fusion_conversion::cache::Cache;
use fusion_conversion::compile::{self as conversion, PlannedConstants, Settings, Timings};
use fusion_conversion::planning::Planning;
use fusion_conversion::tiled;
use fusion_conversion::tuned::{Choices, Tunable};
use fusion_dialects::module::FpMath;
use fusion_dialects::{Module, run_passes};
use fusion_egraph::Strategy;
use fusion_egraph::remarks::Remarks;
use fusion_operators::Tensor;
use fusion_runtime::ModelDescription;
use fusion_runtime::description::KernelDescription;
use fusion_runtime::object_file::Constants;
use fusion_schedule::auto_schedule::ScheduleRemarks;
use fusion_targets::gpu::resources::Resources;
use indexmap::IndexMap;
use std::path::PathBuf;

/// How much of what is known of a program of the whole language is run when compiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// What is known of extents of inputs whose shapes the model leaves dynamic, by input.
    pub shapes: IndexMap<String, Vec<Axis>>,
    /// Shapes of inputs that are likely: the first ones of each input belong together, and so on.
    pub likely: Vec<(String, Vec<u64>)>,
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
    /// Families of rules that are left out, of [`switches`](fusion_conversion::planning::switches).
    pub rules_off: Vec<&'static str>,
    /// Whether the reasons of what was chosen are wanted, and the kernels as programs of their own.
    pub explain: bool,
    /// Whether it is also wanted by which rules values are computed as they are.
    pub proofs: bool,
    /// How many kernels are compiled at a time; by default one a processor.
    pub jobs: Option<usize>,
    /// Pipelines of passes that run on the model before all others, as `--pass-pipeline` of `fusion-opt` writes them.
    pub passes: Vec<String>,
    /// Choices for kernels that were measured, as a tuning log has them.
    pub choices: Choices,
    /// Whether it is wanted what there is to choose for each kernel.
    pub spaces: bool,
    /// Whether the weights lie in a file of their own, from which they are mapped before the first run.
    pub weights_outside: bool,
    /// Whether, and how, passes are validated.
    pub validate: Option<validate::Settings>,
}

/// How kernels are chosen where only a level of optimisation is said.
pub fn strategy_of(level: u8) -> Strategy {
    if level == 0 { Strategy::None } else { Strategy::EGraph }
}

/// How much of a program is run first where only a level of optimisation is said.
pub fn unfold_of(level: u8) -> Unfold {
    if level < 2 { Unfold::Never } else { Unfold::Bounded }
}

impl CompileOptions {
    /// Those that nobody gave, for a target.
    pub fn for_target(target: Target) -> CompileOptions {
        CompileOptions {
            target,
            opt_level: 3,
            shapes: IndexMap::new(),
            likely: Vec::new(),
            bound: IndexMap::new(),
            schedules: Vec::new(),
            strategy: Strategy::EGraph,
            unfold: Unfold::Never,
            fp_math: None,
            rules_off: Vec::new(),
            explain: false,
            proofs: false,
            jobs: None,
            passes: Vec::new(),
            choices: Choices::default(),
            spaces: false,
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
            likely: Vec::new(),
            bound: IndexMap::new(),
            schedules: Vec::new(),
            explain: false,
            spaces: false,
            ..self.clone()
        }
    }
}

impl CompileOptions {
    /// Runs the passes that come before all others.
    pub(crate) fn run_passes(&self, module: &Module) -> Result<(), DriverError> {
        let run = |passes: &String| run_passes(module, passes).map_err(|errors| failed(errors.join("\n")));
        self.passes.iter().try_for_each(run)
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
    /// What was decided of the tiles of its kernels of dynamic extents.
    pub tiles: Vec<tiled::Choice>,
    /// What each of its kernels takes of a GPU, launch by launch, where [`CompileOptions::explain`] asks for it.
    pub launches: Vec<Vec<Resources>>,
    /// Why the kernels are what they are; for strategies that decide by cost, where [`CompileOptions::explain`] asks for it.
    pub remarks: Option<Remarks>,
    /// The kinds of schedules that match each kernel, where [`CompileOptions::explain`] asks for them.
    pub kinds: ScheduleRemarks,
    /// Its kernels as programs of their own, by name, where [`CompileOptions::explain`] asks for them.
    pub programs: IndexMap<String, String>,
    /// What there is to choose for its kernels, by name, where [`CompileOptions::spaces`] asks for it.
    pub tunable: IndexMap<String, Tunable>,
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

/// The code of a compiled model: relocatable ELF objects, and the libraries they need besides the C and mathematical ones.
pub struct Code {
    /// The objects.
    pub objects: Vec<Vec<u8>>,
    /// The libraries, without `lib` and suffix.
    pub libraries: Vec<String>,
}

/// Weights, kept with the compiled model.
#[derive(Default)]
pub struct OwnedConstants {
    /// Bytes of the block they lie in.
    pub size: u64,
    /// Offsets and contents, in ascending order.
    pub pieces: Vec<(u64, Piece)>,
}

/// Bytes of their own, or those of a tensor, which are shared.
pub type Piece = Box<dyn AsRef<[u8]> + Send + Sync>;

impl OwnedConstants {
    /// A block of one piece.
    pub fn whole(bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        let pieces = if size > 0 { vec![(0, Box::new(bytes) as Piece)] } else { Vec::new() };
        OwnedConstants { size, pieces }
    }

    /// The constants of a module whose memory is planned.
    pub fn planned(constants: PlannedConstants) -> Self {
        let pieces = constants.pieces.into_iter().map(|(at, tensor)| (at, Box::new(tensor) as Piece));
        OwnedConstants { size: constants.size as u64, pieces: pieces.collect() }
    }

    /// The same, borrowed.
    pub fn borrow(&self) -> Constants<'_> {
        let pieces = self.pieces.iter().map(|(at, piece)| (*at, (**piece).as_ref()));
        Constants { size: self.size, pieces: pieces.collect() }
    }
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

/// How the compiler is set for these options.
pub(crate) fn settings(
    options: &CompileOptions,
    remarks: Option<PathBuf>,
    kinds: Option<PathBuf>,
) -> Settings {
    let mut processor = options.target.processor.clone();
    processor.target.optimization = options.opt_level.into();
    Settings {
        processor,
        device: options.target.device.clone(),
        planning: Planning {
            strategy: options.strategy,
            off: options.rules_off.clone(),
            remarks,
            kinds,
            proofs: options.proofs,
            check: options.validate.as_ref().map_or(0, |v| v.budget.flops as u64),
        },
        fp_math: options.fp_math,
        programs: options.explain,
        choices: options.choices.clone(),
        spaces: options.spaces,
        weights_outside: options.weights_outside,
        jobs: options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        cache: Cache::from_environment(),
        schedules: options.schedules.clone(),
        external: IndexMap::new(),
    }
}

pub(crate) fn tell(timings: &Timings, jobs: usize) {
    let Timings { program, kernels, compiled, cached } = timings;
    for (stage, seconds) in program {
        notes::tell(format_args!("{seconds:9.3} s  {stage}"));
    }
    notes::tell(format_args!(
        "kernels: {compiled} that differ, {cached} from the cache; the others, at most {jobs} at a time:"
    ));
    for (stage, seconds) in kernels {
        notes::tell(format_args!("{seconds:9.3} s  {stage}"));
    }
}

pub(crate) fn kernel(kernel: conversion::Kernel) -> KernelDescription {
    let conversion::Kernel { name, operators, flops, bytes, .. } = kernel;
    KernelDescription { name, function: None, operators, flops: Some(flops), bytes: Some(bytes) }
}
