//! Why a command fails: one sentence for the user.

use crate::profile::vendor::error::ToolError;
use fusion::DriverError;
use fusion::target::TargetError;
use fusion_bytecode::FileError;
use fusion_interpreter::InterpretError;
use fusion_operators::TensorError;
use fusion_runtime::npz::NpzError;
use fusion_runtime::package::PackageError;
use fusion_runtime::vm::{LibraryError, MachineError, ProgramFileError, VmError};
use fusion_runtime::{LoadError, RunError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Failure {
    /// Processors are not emulated.
    #[error("--emulate is for GPUs, and {0} is a processor; give one such as --target nvidia:sm_80")]
    NothingToEmulate(String),
    /// A compiled model runs where it was compiled for.
    #[error(
        "--emulate is for compiling, and {} is compiled already; give it to `fusion compile`, or give the model that it was made of",
        .0.display()
    )]
    CompiledAlready(PathBuf),
    #[error(
        "--shape is for what ONNX models leave dynamic, and {} says the shapes of its inputs itself; write {} there",
        path.display(),
        example
    )]
    ShapesInModel { path: PathBuf, example: &'static str },
    #[error(
        "--max-error is a budget for forms that --fp-math=strict does not use; leave one of the two away"
    )]
    NoBudget,
    #[error(
        "--rules-off {families} is for --strategy egraph, the only one that has rules; the strategy is {strategy}, so leave it away"
    )]
    NoRules { families: String, strategy: &'static str },
    #[error(
        "--weights is for models of operators alone, as libraries: a program of the whole language and bytecode keep their constants \
         in their own file, so leave it away"
    )]
    WeightsOfPrograms,
    #[error(
        "{variable} is {value:?}, which is no whole number from {least} on; set it to {what}, or unset it"
    )]
    Variable { variable: &'static str, value: String, least: u64, what: &'static str },
    #[error("{} is a directory; name a file in it, such as {}", .0.display(), .0.join("model.so").display())]
    OutputIsDirectory(PathBuf),
    #[error(
        "cannot write {}: there is no directory {}; make it first",
        path.display(),
        directory.display()
    )]
    NoOutputDirectory { path: PathBuf, directory: PathBuf },
    #[error(
        "none of the {all} cases has a name with {filter:?} in it; give --filter a part of one, such as {example}"
    )]
    NoneFiltered { filter: String, all: usize, example: String },
    #[error(
        "kernels of {0} are not run here, and --measure runs them; leave it away, or measure on that machine"
    )]
    NotMeasuredHere(String),
    /// `--device` names another kind of device than the model was compiled for.
    #[error(
        "--device {asked} is for models compiled for such a device, and this one is for {target}; compile it with --target \
         nvidia:sm_80, amd:gfx942 or the like, or leave --device away"
    )]
    OtherDevice { asked: String, target: String },
    #[error(
        "`fusion tune` measures kernels of processors, and {0} is a GPU; leave --target away, or name a processor"
    )]
    TunesProcessors(String),
    #[error(
        "{} has no kernel that could be computed in another way; `fusion explain` lists the kernels of models of operators alone",
        .0.display()
    )]
    NothingToTune(PathBuf),
    #[error(
        "`fusion quantize` runs models on a processor, and {0} is a GPU; leave --target away, or name a processor"
    )]
    QuantizesOnProcessors(String),
    #[error("{} is neither .onnx nor .mlir, and these are what a quantized model is written as; give --output such a name", .0.display())]
    QuantizedForm(PathBuf),
    #[error("--labels is for --metric top1, and the metric is {0}; leave one of the two away")]
    Labels(&'static str),
    #[error("--percentile is for --method percentile, and the method is {0}; leave one of the two away")]
    Percentile(&'static str),
    #[error(transparent)]
    Log(#[from] fusion_tuning::log::LogError),
    #[error(transparent)]
    Past(#[from] fusion_tuning::cost_model::PastError),
    #[error(transparent)]
    Measure(#[from] fusion_tuning::measure::MeasureError),
    #[error(transparent)]
    Pool(#[from] fusion_pool_client::ClientError),
    #[error(transparent)]
    PoolDevice(#[from] fusion_pool_device::DeviceError),
    #[error(transparent)]
    Tracker(#[from] fusion_pool_tracker::TrackerError),
    #[error(
        "the devices of key {key:?} are of several targets, {targets}; give the one that is meant with --target"
    )]
    SeveralTargets { key: String, targets: String },
    #[error("{} cannot run on a device of a pool, where models of operators alone run on processors: {why}", path.display())]
    NotElsewhere { path: PathBuf, why: String },
    #[error("{} did not run on a device of the pool: {why}", path.display())]
    FailedElsewhere { path: PathBuf, why: String },
    #[error("how {0} runs is for this machine; leave it away, or leave --pool away")]
    OnlyHere(&'static str),
    #[error("how many processors a device of the pool has is not known here; give --threads a number")]
    ThreadsElsewhere,
    #[error(transparent)]
    Replay(#[from] fusion_tuning::measure::ReplayError),
    #[error(transparent)]
    Fusion(#[from] fusion::Error),
    #[error(transparent)]
    Tensors(#[from] NpzError),
    #[error(transparent)]
    Profiler(#[from] ToolError),
    #[error(
        "{0} is compiled already, and kernels of a processor are timed each as a program of its own; give --profile the model it \
         was made of"
    )]
    NoKernels(String),
    #[error("{} is a program of the whole language, whose kernels are not timed one by one; leave --profile away", .0.display())]
    NoProfile(PathBuf),
    #[error("{0}")]
    Inputs(String),
    #[error(
        "{} is a program of the whole language, which the graph executor cannot run; run it with --executor aot, vm or interp",
        .0.display()
    )]
    NoGraph(PathBuf),
    #[error("{} is compiled already; give the model it was made of", .0.display())]
    ModelNeeded(PathBuf),
    #[error("{} is compiled already; only models and Relay text are run with --executor", .0.display())]
    Compiled(PathBuf),
    #[error("cannot {action} {}: {error}", path.display())]
    File { action: &'static str, path: PathBuf, error: io::Error },
    #[error("cannot print: {0}")]
    Print(io::Error),
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("{}, given to --bind {name}, holds {found} tensors, not one", path.display())]
    Bind { name: String, path: PathBuf, found: usize },
    #[error("the model became no program of the whole language; leave --executor away")]
    NoProgram,
    #[error(
        "there is no directory for descriptions of targets: neither FUSION_TARGETS nor HOME is set; name a file with --output"
    )]
    NoDirectory,
    #[error(transparent)]
    Dev(#[from] crate::dev::DevError),
    #[error("there are no remarks to explain: {0}")]
    NoRemarks(String),
    #[error(
        "the value {name:?} ({place}) is not in the program that kernels were chosen for: before that it was folded into a constant, merged with a value \
         of the same operation and operands, or taken out because nothing reads it; ask for a value that reads it, or for one that it reads"
    )]
    SimplifiedAway { name: String, place: String },
    #[error(
        "there is no value or kernel {name:?} in this model{}",
        if nearest.is_empty() { String::new() } else { format!("; the nearest names are {}", nearest.join(", ")) }
    )]
    NoValue { name: String, nearest: Vec<String> },
    #[error("{what} has outputs of another type than with all rules: {why}")]
    OtherOutputs { what: String, why: String },
    #[error("there is no type of floats {name:?}; give f32, f16, bf16 or f64")]
    NoType { name: String },
    #[error("no graph of these seeds has what --ops and --dtype ask for")]
    NoGraphs,
    #[error(
        "--against onnxruntime runs {python}, which cannot be started: {error}; give --python a Python that has onnxruntime and numpy"
    )]
    NoPython { python: String, error: io::Error },
    #[error(
        "--against onnxruntime runs {python}, which cannot import onnxruntime and numpy{}; install them there with pip, or give --python another one",
        if why.is_empty() { String::new() } else { format!(" ({why})") }
    )]
    NoPeer { python: String, why: String },
    #[error("no test cases (directories with a model.onnx) were found in {0}")]
    NoCases(String),
}

/// What the library says reaches the user as it is.
macro_rules! of_the_library {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::Fusion(error.into())
            }
        })*
    };
}

of_the_library!(
    DriverError,
    PackageError,
    LoadError,
    RunError,
    TensorError,
    ProgramFileError,
    FileError,
    LibraryError,
    MachineError,
    VmError,
    InterpretError
);

impl Failure {
    /// A file that cannot be read or written.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        let path = path.to_owned();
        move |error| Failure::File { action, path, error }
    }
}
