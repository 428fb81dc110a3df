//! Getting a runnable model from what the user names: a compiled one, or one to compile now.

use crate::driver::{self, CompileOptions, Compiled, DriverError};
use crate::error::Error;
use crate::package::package;
use crate::programs;
use crate::source::Source;
use fusion_operators::Tensor;
use fusion_runtime::{Module, NativeProgram};
use indexmap::IndexMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Loads a compiled model, or compiles a model and loads the outcome.
pub fn load(path: &Path, options: &CompileOptions) -> Result<Module, Error> {
    if is_compiled(path)? {
        return Ok(Module::load(path)?);
    }
    linked(&driver::compile(path, options)?)
}

/// A model that can be run.
pub enum Runnable {
    /// Of operators alone.
    Model(Box<Module>),
    /// A program of the whole language.
    Program(Box<NativeProgram>),
}

impl Runnable {
    /// Loads a compiled model.
    pub fn load(library: &Path) -> Result<Runnable, Error> {
        match NativeProgram::load(library)? {
            Some(program) => Ok(Runnable::Program(Box::new(program))),
            None => Ok(Runnable::Model(Box::new(Module::load(library)?))),
        }
    }

    /// Compiles a model and loads the outcome.
    pub fn compile<'a>(model: impl Into<Source<'a>>, options: &CompileOptions) -> Result<Runnable, Error> {
        let compiled = driver::compile(model, options)?;
        if compiled.description.program.is_some()
            && let Some(program) = programs::linked(&compiled)?
        {
            return Ok(Runnable::Program(Box::new(program)));
        }
        linked(&compiled).map(Box::new).map(Runnable::Model)
    }
}

/// Links and loads a model that was just compiled.
pub fn linked(compiled: &Compiled) -> Result<Module, Error> {
    let scratch = tempfile::tempdir().map_err(Error::file("write", &std::env::temp_dir()))?;
    let library = scratch.path().join("model.so");
    package(compiled, None, |package| package.write_library(&library))?;
    // The loaded library stays in memory when its file goes with the directory.
    Ok(Module::load(&library)?)
}

/// Most numbers of an input that is taken for extents: as many as a tensor has axes, twice.
const MOST_SIZES: usize = 16;

/// As [`Runnable::compile`], for these inputs: what the model leaves dynamic follows from them. Their shapes are those of the model's
/// inputs, and those whose values the compiler must know (a shape that is computed from one) become constants.
pub fn load_for(
    path: &Path,
    options: &CompileOptions,
    inputs: &IndexMap<String, Tensor>,
) -> Result<(Runnable, CompileOptions), Error> {
    let mut options = options.clone();
    for (name, tensor) in inputs {
        let shape = || tensor.shape().iter().map(|&n| (n as u64).into()).collect();
        options.shapes.entry(name.clone()).or_insert_with(shape);
    }
    loop {
        let failure = match Runnable::compile(path, &options) {
            Ok(runnable) => return Ok((runnable, options)),
            Err(failure) => failure,
        };
        match &failure {
            Error::Compile(DriverError::NeedsConstant(name)) if !options.bound.contains_key(name) => {
                match inputs.get(name) {
                    Some(tensor) => options.bound.insert(name.clone(), tensor.clone()),
                    None => return Err(failure),
                };
            }
            // Extents may follow from the values of an input: once these are known, so are the extents.
            Error::Compile(DriverError::NoPrograms(_)) if options.bound.is_empty() => {
                let sizes = inputs.iter().filter(|(_, tensor)| may_be_sizes(tensor));
                options.bound.extend(sizes.map(|(name, tensor)| (name.clone(), tensor.clone())));
                if options.bound.is_empty() {
                    return Err(failure);
                }
            }
            _ => return Err(failure),
        }
    }
}

/// True for a few integers, as extents and positions are.
fn may_be_sizes(tensor: &Tensor) -> bool {
    tensor.dtype().is_int() && tensor.shape().len() <= 1 && tensor.len() <= MOST_SIZES
}

/// True when the file is a shared library rather than a model to compile.
pub fn is_compiled(path: &Path) -> Result<bool, Error> {
    let mut start = vec![];
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut start));
    read.map_err(Error::file("read", path))?;
    Ok(start == b"\x7fELF")
}
