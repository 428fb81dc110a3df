//! `fusion-translate`: programs from one form to another.

use crate::failure::Failure;
use crate::print;
use clap::{ArgGroup, Parser};
use fusion::DriverError;
use fusion_dialects::{load_context, module_op, parse_file, source_of};
use fusion_importers::relay_text;
use std::path::{Path, PathBuf};

/// Translates programs between Relay text (.relay) and MLIR (.mlir).
///
/// Types that are not written in a text are `!relay.hole` in MLIR; `fusion-opt --relay-infer-types` finds them out.
#[derive(Debug, Parser)]
#[command(name = "fusion-translate", version, group = ArgGroup::new("direction").required(true))]
pub struct Translate {
    /// Reads Relay text, writes MLIR.
    #[arg(long, group = "direction")]
    relay_to_mlir: bool,

    /// Reads MLIR, writes Relay text.
    #[arg(long, group = "direction")]
    mlir_to_relay: bool,

    /// Reads Relay text and writes it again, as `--mlir-to-relay` would.
    #[arg(long, group = "direction")]
    relay_to_relay: bool,

    /// The program.
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// Where to write the outcome; by default it is printed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Writes where operations come from in the source, too.
    #[arg(long)]
    locations: bool,
}

impl Translate {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let text = self.text()?;
        match &self.output {
            Some(path) => std::fs::write(path, text).map_err(Failure::file("write", path)),
            None => print::line(text.trim_end()),
        }
    }

    fn text(&self) -> Result<String, DriverError> {
        let context = load_context();
        let module = match self.mlir_to_relay {
            true => {
                parse_file(&context, Path::new(&self.input)).map_err(|errors| failed(errors.join("\n")))?
            }
            false => relay_text::import_file(&context, &self.input).map_err(failed)?,
        };
        let op = module_op(&module);
        if self.relay_to_mlir {
            return Ok(format!("{}\n", source_of(op, self.locations)));
        }
        relay_text::print(op).map_err(failed)
    }
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DriverError {
    DriverError::Failed(error.into())
}
