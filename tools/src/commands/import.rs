//! `fusion import`: a model as text in the relay dialect.

use crate::failure::Failure;
use crate::print;
use clap::Args;
use fusion::driver;
use fusion_runtime::output;
use std::path::PathBuf;

/// Show a model in the relay dialect, as MLIR text.
#[derive(Debug, Args)]
pub struct Import {
    /// The model: .onnx, .relay, .mlir, .mlirbc or .jax.
    model: PathBuf,

    /// Where to write the text; the terminal by default.
    #[arg(short, long, value_name = "FILE.mlir")]
    output: Option<PathBuf>,
}

impl Import {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let text = driver::import(&self.model)?;
        let text = text.trim_end();
        match &self.output {
            Some(path) => {
                output::write(path, format!("{text}\n").as_bytes()).map_err(Failure::file("write", path))
            }
            None => print::line(text),
        }
    }
}
