//! Compiled models on the host: packaging code and weights into a shared library, loading and
//! running one, and what surrounds a run: tensors in files, timing, comparing.
//!
//! This crate knows nothing of MLIR: what it takes is object code and a description, as
//! `docs/reference/abi.md` defines them.

mod bind;
pub mod compare;
pub mod description;
mod embedded;
pub mod gpu;
pub mod header;
pub mod language;
pub mod machine;
pub mod measure;
pub mod module;
pub mod npy;
pub mod npz;
pub mod object_file;
pub mod output;
pub mod package;
pub mod profile;
pub mod program;
mod program_tensors;
mod raw;
mod system;
pub mod threads;
pub mod vm;
pub mod weights;

pub use fusion_operators::random;

pub use description::{
    ArgumentDescription, DataDescription, KernelDescription, ModelDescription, ProgramDescription,
};
pub use gpu::Device;
pub use module::{LoadError, Module, RunError, Session, TensorViewMut};
pub use program::NativeProgram;
