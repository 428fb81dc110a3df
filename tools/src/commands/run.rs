//! `fusion run`: a model on tensors from a file.

use super::options::Options;
use crate::failure::Failure;
use crate::{load, print};
use clap::Args;
use fusion_runtime::npz;
use indexmap::IndexMap;
use std::path::PathBuf;

/// Run a model on tensors from a file.
#[derive(Debug, Args)]
pub struct Run {
    /// The model, compiled (.so) or not (.onnx, .relay, .mlir).
    #[arg(value_name = "MODEL_OR_SO")]
    model: PathBuf,

    /// Inputs by name, as numpy.savez writes them; or a .npy file for a model of one input.
    #[arg(long, value_name = "FILE.npz")]
    inputs: Option<PathBuf>,

    /// Where to write the outputs by name; by default their first elements are printed.
    #[arg(long, value_name = "FILE.npz")]
    outputs: Option<PathBuf>,

    /// Threads to run on; 0 for one a processor [default: FUSION_THREADS, else 1].
    #[arg(long, value_name = "N")]
    threads: Option<u16>,

    #[command(flatten)]
    options: Options,
}

impl Run {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let tensors = match &self.inputs {
            Some(path) => npz::read(path)?,
            None => IndexMap::new(),
        };
        let (module, _) = load::load_for(&self.model, &self.options.resolve()?, &tensors)?;
        if let Some(threads) = self.threads {
            module.set_threads(threads);
        }
        let outputs = module.run(&module.bind(tensors)?)?;
        let names = module.description().outputs.iter().map(|o| o.name.as_str());
        let named = names.zip(&outputs);
        match &self.outputs {
            Some(path) => Ok(npz::write(path, named)?),
            None => named
                .into_iter()
                .try_for_each(|(name, tensor)| print::line(format_args!("{name}: {tensor:?}"))),
        }
    }
}
