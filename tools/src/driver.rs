//! The facade over the compiler: the few functions the commands need of it.

use fusion_operators::Tensor;
use fusion_runtime::object_file::Constants;
use fusion_runtime::{ModelDescription, Module};
use indexmap::IndexMap;
use std::path::Path;

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileOptions {
    /// A target of [`targets`].
    pub target: String,
    /// 0 (fast to compile) to 3 (fast to run).
    pub opt_level: u8,
    /// Extents of inputs whose shapes the model leaves open, by input.
    pub shapes: IndexMap<String, Vec<u64>>,
    /// Inputs that become constants.
    pub bound: IndexMap<String, Tensor>,
    /// Whether the code is run by this process, so that it may stay in memory.
    pub jit: bool,
}

/// A compiled model.
pub struct Compiled {
    /// What it takes and gives, and its kernels.
    pub description: ModelDescription,
    /// Its code.
    pub code: Code,
    /// Its weights.
    pub constants: OwnedConstants,
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
    Memory(Module),
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
    /// This program has no compiler in it.
    #[error("this program is not built with a compiler, so it cannot {0}; it runs compiled models (.so)")]
    NotConnected(&'static str),
    /// The model uses something that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The input must be known when compiling.
    #[error("input {0:?} of the model must be known when compiling; give it with --bind {0}=FILE.npy")]
    NeedsConstant(String),
    /// The model is wrong, or the compiler is.
    #[error("{0}")]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// A target, as `fusion targets` lists it.
#[derive(Clone, Debug)]
pub struct Target {
    /// What `--target` takes.
    pub name: &'static str,
    /// What it is.
    pub about: String,
}

/// The targets there are.
pub fn targets() -> Vec<Target> {
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    vec![Target { name: "cpu", about: format!("this machine's processor ({arch}, {os})") }]
}

/// Compiles a model: ONNX, Relay text or MLIR, by its file extension.
pub fn compile(model: &Path, options: &CompileOptions) -> Result<Compiled, DriverError> {
    let _ = (model, options);
    Err(DriverError::NotConnected("compile a model"))
}

/// Imports a model into the relay dialect and gives its text.
pub fn import(model: &Path) -> Result<String, DriverError> {
    let _ = model;
    Err(DriverError::NotConnected("import a model"))
}

/// Reads a serialised ONNX `TensorProto`: its name, which may be empty, and the tensor.
pub fn read_onnx_tensor(path: &Path) -> Result<(String, Tensor), DriverError> {
    let _ = path;
    Err(DriverError::NotConnected("read ONNX tensors"))
}
