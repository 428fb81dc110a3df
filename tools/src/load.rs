//! Getting a runnable model from what the user names: a compiled one, or one to compile now.

use crate::driver::{self, Code, CompileOptions, Compiled, DriverError};
use crate::failure::Failure;
use crate::package::package;
use crate::programs;
use fusion_operators::Tensor;
use fusion_runtime::{Module, NativeProgram};
use indexmap::IndexMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Loads a compiled model, or compiles a model and loads the outcome.
pub fn load(path: &Path, options: &CompileOptions) -> Result<Module, Failure> {
    if is_compiled(path)? {
        return Ok(Module::load(path)?);
    }
    module_of(driver::compile(path, &CompileOptions { jit: true, ..options.clone() })?)
}

fn module_of(compiled: Compiled) -> Result<Module, Failure> {
    match compiled.code {
        Code::Memory(module) => Ok(*module),
        Code::Objects { .. } => linked(&compiled),
    }
}

/// A model that can be run.
pub enum Runnable {
    /// Of operators alone.
    Model(Box<Module>),
    /// A program of the whole language.
    Program(Box<NativeProgram>),
}

impl Runnable {
    /// Compiles a model and loads the outcome.
    pub fn compile(path: &Path, options: &CompileOptions) -> Result<Runnable, Failure> {
        let compiled = driver::compile(path, &CompileOptions { jit: true, ..options.clone() })?;
        if compiled.description.program.is_some()
            && let Some(program) = programs::linked(&compiled)?
        {
            return Ok(Runnable::Program(Box::new(program)));
        }
        module_of(compiled).map(Box::new).map(Runnable::Model)
    }
}

/// Links and loads a model that was just compiled.
pub fn linked(compiled: &Compiled) -> Result<Module, Failure> {
    let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
    let library = scratch.path().join("model.so");
    package(compiled, None, |package| Ok(package.write_library(&library)?))?;
    // The loaded library stays in memory when its file goes with the directory.
    Ok(Module::load(&library)?)
}

/// As [`Runnable::compile`], for these inputs: what the model leaves dynamic follows from them. Their shapes are those of the model's
/// inputs, and those whose values the compiler must know (a shape that is computed from one) become constants.
pub fn load_for(
    path: &Path,
    options: &CompileOptions,
    inputs: &IndexMap<String, Tensor>,
) -> Result<(Runnable, CompileOptions), Failure> {
    let mut options = options.clone();
    for (name, tensor) in inputs {
        let shape = || tensor.shape().iter().map(|&n| n as u64).collect();
        options.shapes.entry(name.clone()).or_insert_with(shape);
    }
    loop {
        let failure = match Runnable::compile(path, &options) {
            Ok(runnable) => return Ok((runnable, options)),
            Err(failure) => failure,
        };
        match &failure {
            Failure::Driver(DriverError::NeedsConstant(name)) if !options.bound.contains_key(name) => {
                match inputs.get(name) {
                    Some(tensor) => options.bound.insert(name.clone(), tensor.clone()),
                    None => return Err(failure),
                };
            }
            _ => return Err(failure),
        }
    }
}

/// True when the file is a shared library rather than a model to compile.
pub fn is_compiled(path: &Path) -> Result<bool, Failure> {
    let mut start = vec![];
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut start));
    read.map_err(Failure::file("read", path))?;
    Ok(start == b"\x7fELF")
}
