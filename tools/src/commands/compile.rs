//! `fusion compile`: a model as a shared library.

use super::options::Options;
use crate::driver::{self, CompileOptions};
use crate::failure::Failure;
use crate::load::package;
use crate::print;
use clap::Args;
use std::path::PathBuf;

/// Compile a model to a shared library, with a C header beside it.
#[derive(Debug, Args)]
pub struct Compile {
    /// The model: .onnx, .relay or .mlir.
    model: PathBuf,

    /// Where to write the library; the header goes to the same name with .h. By default the model's
    /// name with .so, in the current directory.
    #[arg(short, long, value_name = "FILE.so")]
    output: Option<PathBuf>,

    /// The C compiler that links the library [default: cc, or the cross compiler of another machine].
    #[arg(long, value_name = "PROGRAM")]
    linker: Option<PathBuf>,

    /// Kernels to compile at a time [default: one a processor]. The library does not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    #[command(flatten)]
    options: Options,
}

impl Compile {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let options = CompileOptions { jobs: self.jobs.map(usize::from), ..self.options.resolve()? };
        let path = self.output.clone().unwrap_or_else(|| {
            PathBuf::from(self.model.file_stem().unwrap_or("model".as_ref())).with_extension("so")
        });
        let compiled = driver::compile(&self.model, &options)?;
        let header = package(&compiled, self.linker.clone(), |package| Ok(package.write(&path)?))?;
        let description = &compiled.description;
        print::line(format_args!(
            "{} and {}: {} kernels, {} of constants, {} of workspace",
            path.display(),
            header.display(),
            description.kernels.len(),
            print::amount(compiled.constants.size, "B"),
            print::amount(description.workspace_bytes, "B"),
        ))
    }
}
