//! Where kernels are compiled, side by side.

use super::error::MeasureError;
use crate::kernel::Kernel;
use fusion::driver::{self, CompileOptions};
use fusion::package::package;
use fusion::source::Source;
use fusion_schedule::auto_schedule::Choice;
use indexmap::IndexMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// LLVM recurses more deeply than the stacks that threads have by default allow.
const STACK_BYTES: usize = 64 << 20;

/// Where kernels are compiled.
pub struct Shop {
    options: CompileOptions,
    scratch: tempfile::TempDir,
    compiled: AtomicUsize,
}

impl Shop {
    /// One for kernels of a model that is compiled with these options.
    pub fn new(options: &CompileOptions) -> Result<Shop, MeasureError> {
        let scratch = tempfile::tempdir();
        let scratch = scratch.map_err(|why| MeasureError::Scratch { path: std::env::temp_dir(), why })?;
        let options = CompileOptions { jobs: Some(1), ..options.of_kernel() };
        Ok(Shop { options, scratch, compiled: AtomicUsize::new(0) })
    }

    /// The library of a kernel.
    pub fn compile(&self, kernel: &Kernel, choices: &[Choice]) -> Result<PathBuf, String> {
        let mut options = self.options.clone();
        options.choices = IndexMap::from([(kernel.hash.clone(), choices.to_vec())]);
        let compiled =
            driver::compile(Source::mlir(&kernel.program), &options).map_err(|error| error.to_string())?;
        let number = self.compiled.fetch_add(1, Ordering::Relaxed);
        let library = self.scratch.path().join(format!("{number}.so"));
        package(&compiled, None, |package| package.write_library(&library))
            .map_err(|error| error.to_string())?;
        Ok(library)
    }

    /// The libraries of a kernel with each of these choices, so many at a time.
    pub fn compile_all(
        &self,
        kernel: &Kernel,
        choices: &[Vec<Choice>],
        jobs: usize,
    ) -> Vec<Result<PathBuf, String>> {
        let next = AtomicUsize::new(0);
        let none = || Mutex::new(Err("no thread could be started to compile it".to_owned()));
        let all: Vec<Mutex<Result<PathBuf, String>>> = choices.iter().map(|_| none()).collect();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let (Some(chosen), Some(place)) = (choices.get(at), all.get(at)) else { break };
                let made = self.compile(kernel, chosen);
                *place.lock().unwrap_or_else(PoisonError::into_inner) = made;
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, choices.len().max(1)) {
                let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
                if worker.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
        });
        all.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}
