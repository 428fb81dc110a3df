//! Measuring on devices of a pool: kernels are compiled here, and timed there, several at a time where there are several devices.
//!
//! What a kernel gives is compared with what its default gives on this machine, compiled for this machine. A device that gives other numbers than
//! another one of its key, or for the default itself, gave wrong numbers, and the pool is told.

use super::agree::{agrees, inputs_of};
use super::error::MeasureError;
use super::shop::Shop;
use super::worker::{MOST_SECONDS, SAMPLE, SAMPLES};
use super::{Measured, Measurer, TURNS};
use crate::kernel::Kernel;
use bytes::Bytes;
use fusion::driver::{self, CompileOptions, Target};
use fusion::package::package;
use fusion::source::Source;
use fusion_operators::Tensor;
use fusion_pool_client::{Checked, Client, Outcome, Task};
use fusion_pool_device::runner::{Processes, here};
use fusion_pool_protocol::messages::{Timing, Work};
use fusion_runtime::description::ArgumentDescription;
use fusion_schedule::auto_schedule::Choice;
use indexmap::IndexMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How kernels run on devices.
#[derive(Clone, Debug)]
pub struct Devices {
    /// The kind of devices.
    pub key: String,
    /// The program and its arguments that run a job on this machine ([`fusion_pool_device::child::main`]).
    pub command: Vec<PathBuf>,
    /// Threads that kernels run on.
    pub threads: u16,
    /// Kernels that are compiled at a time.
    pub jobs: usize,
    /// How long a job may take.
    pub timeout: Duration,
}

/// Measures on devices of a pool.
pub struct Pool {
    shop: Shop,
    /// How the default is compiled for this machine.
    own: CompileOptions,
    client: Client,
    devices: Devices,
    /// Of the kernel that is being measured, by its hash.
    reference: Option<(String, Reference)>,
}

/// What a kernel is run on, and what it gives.
struct Reference {
    inputs: Vec<Bytes>,
    arguments: Vec<ArgumentDescription>,
    outputs: Vec<Tensor>,
}

/// Bytes of memory that a kernel may take on this machine.
const MEMORY_BYTES: u64 = 8 << 30;

impl Pool {
    /// For kernels of a model that is compiled with these options.
    pub fn new(options: &CompileOptions, client: Client, devices: Devices) -> Result<Pool, MeasureError> {
        let own = CompileOptions {
            target: Target::uncalibrated(),
            choices: IndexMap::new(),
            ..options.of_kernel()
        };
        Ok(Pool { shop: Shop::new(options)?, own, client, devices, reference: None })
    }

    fn work(&self, outputs: &[ArgumentDescription], timing: Option<Timing>) -> Result<Work, String> {
        let bytes = outputs.iter().map(|output| output.bytes().map(|bytes| bytes as u64));
        Ok(Work {
            output_bytes: bytes.collect::<Result<_, _>>().map_err(|error| error.to_string())?,
            threads: self.devices.threads.into(),
            timing,
            timeout_ms: self.devices.timeout.as_millis() as u64,
            wants_outputs: true,
            ..Work::default()
        })
    }

    /// Finds out what a kernel gives.
    fn refer_to(&mut self, kernel: &Kernel) -> Result<(), MeasureError> {
        if self.reference.as_ref().is_some_and(|(hash, _)| *hash == kernel.hash) {
            return Ok(());
        }
        let failed = |why| MeasureError::Reference { kernel: kernel.name.clone(), why };
        self.reference = Some((kernel.hash.clone(), self.reference_of(kernel).map_err(failed)?));
        Ok(())
    }

    fn reference_of(&self, kernel: &Kernel) -> Result<Reference, String> {
        let compiled =
            driver::compile(Source::mlir(&kernel.program), &self.own).map_err(|error| error.to_string())?;
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let library = scratch.path().join("default.so");
        package(&compiled, None, |package| package.write_library(&library))
            .map_err(|error| error.to_string())?;
        let tensors = inputs_of(&compiled.description)?;
        let inputs: Vec<Bytes> =
            tensors.iter().map(|tensor| Bytes::copy_from_slice(tensor.bytes())).collect();
        let arguments = compiled.description.outputs.clone();
        let processes = Processes {
            command: self.devices.command.clone(),
            memory_bytes: MEMORY_BYTES,
            most: self.devices.timeout,
            without_sandbox: true,
        };
        let library = [read(&library)?];
        let task = Task::new(&self.devices.key, &library, &inputs, self.work(&arguments, None)?);
        let (answers, outputs) = here(&processes, &task.job.work.unwrap_or_default(), &library, &inputs)?;
        answers.into_iter().next().unwrap_or_else(|| Err("it gave no answer".to_owned()))?;
        let outputs = tensors_of(&arguments, &outputs.into_iter().next().unwrap_or_default())?;
        Ok(Reference { inputs, arguments, outputs })
    }

    fn time(
        &mut self,
        kernel: &Kernel,
        choices: &[Vec<Choice>],
        turns: usize,
        together: bool,
    ) -> Result<Vec<Measured>, MeasureError> {
        self.refer_to(kernel)?;
        let Some((_, reference)) = &self.reference else { return Ok(Vec::new()) };
        let made = self.shop.compile_all(kernel, choices, self.devices.jobs);
        let made: Vec<Result<Bytes, String>> = made.into_iter().map(|library| read(&library?)).collect();
        let whole: Vec<Bytes> = made.iter().filter_map(|library| library.as_ref().ok().cloned()).collect();
        let groups: Vec<&[Bytes]> = match together {
            true if whole.is_empty() => Vec::new(),
            true => vec![&whole],
            false => whole.chunks(1).collect(),
        };
        let timing = Timing {
            warm_up: 1,
            least_ns: (SAMPLE * 1e9) as u64,
            samples: SAMPLES as u32,
            most_ns: (MOST_SECONDS * 1e9) as u64,
            turns: turns as u32,
        };
        let failed = |why| MeasureError::Reference { kernel: kernel.name.clone(), why };
        let work = self.work(&reference.arguments, Some(timing)).map_err(failed)?;
        let tasks =
            groups.iter().map(|group| Task::new(&self.devices.key, group, &reference.inputs, work.clone()));
        let is_known = choices.iter().all(|choice| *choice == kernel.space.default);
        let check = |outcome: &Outcome| {
            let of_all = (0..outcome.answers.len()).map(|number| wrong(outcome, number, reference));
            of_all.flatten().next().map_or(Ok(()), Err)
        };
        let mut answers = Vec::new();
        for outcome in self.client.run(tasks.collect(), Checked { check: &check, is_known }) {
            let (mut outcome, _) = outcome?;
            for number in 0..outcome.answers.len() {
                if let Some(why) = wrong(&outcome, number, reference) {
                    outcome.answers[number] = Err(why);
                }
            }
            answers.extend(outcome.answers);
        }
        let mut answers = answers.into_iter();
        let missing = || Err("its device gave no answer".to_owned());
        Ok(made
            .into_iter()
            .map(|library| library.and_then(|_| answers.next().unwrap_or_else(missing)))
            .collect())
    }
}

/// Why the numbers of a library that ran are wrong.
fn wrong(outcome: &Outcome, number: usize, reference: &Reference) -> Option<String> {
    let ran = outcome.answers.get(number).is_some_and(Result::is_ok);
    let outputs = outcome.outputs.get(number).filter(|_| ran)?;
    let agreed =
        tensors_of(&reference.arguments, outputs).and_then(|found| agrees(&found, &reference.outputs));
    agreed.err()
}

fn tensors_of(arguments: &[ArgumentDescription], outputs: &[Vec<u8>]) -> Result<Vec<Tensor>, String> {
    let tensors = arguments
        .iter()
        .zip(outputs)
        .map(|(argument, bytes)| Tensor::from_bytes(argument.dtype, &argument.shape, bytes));
    tensors.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// The bytes of a library, which is not needed as a file any more.
fn read(library: &Path) -> Result<Bytes, String> {
    let bytes = std::fs::read(library).map_err(|why| format!("cannot read {}: {why}", library.display()))?;
    // That it stays until the directory goes is no failure.
    let _ = std::fs::remove_file(library);
    Ok(bytes.into())
}

impl Measurer for Pool {
    type Error = MeasureError;

    fn measure(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, MeasureError> {
        self.time(kernel, choices, 1, false)
    }

    fn again(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, MeasureError> {
        self.time(kernel, choices, TURNS, true)
    }
}
