//! A model on a device of a pool: compiled here, run there.

use super::entry::{Connected, Elsewhere};
use crate::commands::options::Options;
use crate::failure::Failure;
use bytes::Bytes;
use fusion::driver;
use fusion::load::is_compiled;
use fusion::package::package;
use fusion_operators::Tensor;
use fusion_pool_client::{Checked, Task};
use fusion_pool_device::child::text_of;
use fusion_pool_protocol::messages::{Timing, Work};
use fusion_runtime::ModelDescription;
use std::path::{Path, PathBuf};

/// What a device takes at most for a model.
const MOST_MS: u64 = 600_000;

/// A model that devices can run.
pub struct Remote {
    pool: Connected,
    path: PathBuf,
    description: ModelDescription,
    library: Bytes,
}

impl Remote {
    /// A model, compiled or not, for the pool that is given, if there is one.
    pub fn of(path: &Path, elsewhere: &Elsewhere, options: &Options) -> Result<Option<Remote>, Failure> {
        let Some(pool) = elsewhere.connect()? else { return Ok(None) };
        let (description, library) = match is_compiled(path)? {
            true => {
                let library = std::fs::read(path).map_err(Failure::file("read", path))?;
                let described = text_of(&library, "fusion_model_json");
                let described =
                    described.map_err(|why| Failure::NotElsewhere { path: path.to_owned(), why })?;
                let described = serde_json::from_str(&described).map_err(|why| Failure::NotElsewhere {
                    path: path.to_owned(),
                    why: format!("its description cannot be read: {why}"),
                })?;
                (described, library)
            }
            false => {
                let compiled = driver::compile(path, &pool.aim(options)?.resolve()?)?;
                let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
                let file = scratch.path().join("model.so");
                package(&compiled, None, |package| package.write_library(&file))?;
                (compiled.description, std::fs::read(&file).map_err(Failure::file("read", &file))?)
            }
        };
        let refused = |why: &str| Failure::NotElsewhere { path: path.to_owned(), why: why.to_owned() };
        if description.program.is_some() {
            return Err(refused("it is a program of the whole language"));
        }
        if description.device.is_some() {
            return Err(refused("it is for a GPU"));
        }
        Ok(Some(Remote { pool, path: path.to_owned(), description, library: library.into() }))
    }

    /// What it takes and gives.
    pub fn description(&self) -> &ModelDescription {
        &self.description
    }

    /// Runs it on a device; gives its outputs, and samples in seconds where they are asked for.
    pub fn run(
        &self,
        inputs: &[Tensor],
        threads: u16,
        timing: Option<Timing>,
    ) -> Result<(Vec<Tensor>, Vec<f64>), Failure> {
        self.description.check(inputs)?;
        let outputs = &self.description.outputs;
        let bytes = outputs.iter().map(|output| output.bytes().map(|bytes| bytes as u64));
        let work = Work {
            output_bytes: bytes.collect::<Result<_, _>>()?,
            threads: threads.into(),
            wants_outputs: timing.is_none(),
            timing,
            timeout_ms: MOST_MS,
            ..Work::default()
        };
        let inputs: Vec<Bytes> = inputs.iter().map(|input| Bytes::copy_from_slice(input.bytes())).collect();
        let task = Task::new(&self.pool.key, std::slice::from_ref(&self.library), &inputs, work);
        let nothing_known = Checked { check: &|_| Ok(()), is_known: false };
        let failed = |why: &str| Failure::FailedElsewhere { path: self.path.clone(), why: why.to_owned() };
        let outcome = self.pool.client.run(vec![task], nothing_known).into_iter().next();
        let (outcome, _) = outcome.ok_or_else(|| failed("it gave no answer"))??;
        let answer =
            outcome.answers.into_iter().next().unwrap_or_else(|| Err("it gave no answer".to_owned()));
        let times = answer.map_err(|why| failed(&format!("on {}, {why}", outcome.device)))?;
        let given = outcome.outputs.into_iter().next().unwrap_or_default();
        let tensors = outputs
            .iter()
            .zip(given)
            .map(|(output, bytes)| Tensor::from_bytes(output.dtype, &output.shape, bytes));
        Ok((tensors.collect::<Result<_, _>>()?, times.into_iter().map(|ps| ps as f64 * 1e-12).collect()))
    }
}
