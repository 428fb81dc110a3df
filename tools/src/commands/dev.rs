//! `fusion dev`: skeletons for those who work on fusion itself.

use crate::dev::{Edits, operator, pass, primitive};
use crate::failure::Failure;
use crate::print;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Write skeletons of what is to be added to fusion: they compile, and their tests fail with 'write me'.
///
/// The how-to pages in docs/how-to say what to write.
#[derive(Debug, Args)]
pub struct Dev {
    #[command(subcommand)]
    what: What,

    /// The checkout, or a folder of it; the folder this runs in by default.
    #[arg(long, global = true, default_value = ".", value_name = "DIR")]
    root: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// An operator: its row, its definition in tensor expressions, and a test.
    #[command(name = "new-operator")]
    Operator {
        /// Its name in the dialect, such as `cosine_distance`.
        name: String,

        /// Its name in ONNX, if it has one: adds it to the importer.
        #[arg(long, value_name = "NAME")]
        onnx: Option<String>,
    },
    /// A pass of one dialect, and a test.
    #[command(name = "new-pass")]
    Pass {
        /// Its name, the dialect first, such as `relay-count-calls`.
        name: String,
    },
    /// A primitive of schedules, and a test.
    #[command(name = "new-primitive")]
    Primitive {
        /// Its name, such as `skew`.
        name: String,
    },
}

impl Dev {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let edits = Edits::in_checkout_of(&self.root)?;
        let files = match &self.what {
            What::Operator { name, onnx } => operator::write(edits, name, onnx.as_deref())?,
            What::Pass { name } => pass::write(edits, name)?,
            What::Primitive { name } => primitive::write(edits, name)?,
        };
        files.iter().try_for_each(|file| print::line(file.display()))
    }
}
