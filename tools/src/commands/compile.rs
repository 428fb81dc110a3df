//! `fusion compile`: a model as a shared library.

use super::options::Options;
use super::output::can_be_written;
use super::timing::Timing;
use crate::failure::Failure;
use crate::print;
use clap::Args;
use fusion::compilation::unfold_of;
use fusion::driver::{self, CompileOptions, Compiled};
use fusion::package::package_with;
use fusion::programs;
use fusion::validate::Settings;
use fusion_dialects::span;
use fusion_interpreter::Budget;
use fusion_runtime::package::{Package, PackageError};
use fusion_runtime::vm::{TEXT, write_program};
use fusion_runtime::weights::{self, Outside};
use std::path::{Path, PathBuf};

/// Compile a model to a shared library, with a C header beside it.
#[derive(Debug, Args)]
pub struct Compile {
    /// The model: .onnx, .relay, .mlir, .mlirbc or .jax.
    model: PathBuf,

    /// What to write: a library of native code, or a program for the virtual machine (`fusion run` runs either).
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Library)]
    emit: Form,

    /// Where to write the library; the header goes to the same name with .h. By default the model's
    /// name with .so, in the current directory.
    #[arg(short, long, value_name = "FILE.so")]
    output: Option<PathBuf>,

    /// The C compiler that links the library [default: cc, or the cross compiler of another machine].
    #[arg(long, value_name = "PROGRAM")]
    linker: Option<PathBuf>,

    /// Write the weights into a file that the library maps when it first runs, in place of the library itself. It belongs into the
    /// same folder, or FUSION_WEIGHTS names it.
    #[arg(long, value_name = "FILE.safetensors")]
    weights: Option<PathBuf>,

    /// Kernels to compile at a time [default: one a processor]. The library does not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Run each function that a pass changes before and after it, on random inputs; a difference is an error, and what was
    /// not validated is listed.
    #[arg(long)]
    validate: bool,

    /// Functions that take more operations are not run to validate a pass.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e9, requires = "validate")]
    validate_flops: f64,

    /// Largest difference that validation allows, relative to the largest element of an output.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-4, requires = "validate")]
    validate_rtol: f64,

    /// Where the rules of algebra make the result wrong, find the fewest applications of them that do.
    #[arg(long, requires = "validate")]
    bisect_rules: bool,

    #[command(flatten)]
    timing: Timing,

    #[command(flatten)]
    options: Options,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A shared library.
    Library,
    /// A program for the virtual machine, with its kernels.
    Bytecode,
    /// The program as text, without its kernels.
    BytecodeText,
}

/// Writes the library and its header; an object where another machine's C compiler is missing.
fn write(package: &Package, path: PathBuf) -> Result<(PathBuf, PathBuf), Failure> {
    match package.write(&path) {
        Ok(header) => Ok((path, header)),
        Err(PackageError::NoLinker { linker, .. }) if package.linker.is_none() && package.is_foreign()? => {
            let object = path.with_extension("o");
            let header = package.write_relocatable(&object)?;
            print::aside(format_args!(
                "note: there is no {0} here, so this is an object and no library; link it with {0} -shared -Wl,-Bsymbolic \
                 -o {1} {2} -lm -pthread -ldl",
                linker.display(),
                path.file_name().unwrap_or_default().display(),
                object.file_name().unwrap_or_default().display(),
            ));
            Ok((object, header))
        }
        Err(error) => Err(error.into()),
    }
}

/// Weights in a file of their own.
fn write_weights(compiled: &Compiled, path: &Path) -> Result<Outside, Failure> {
    if compiled.description.program.is_some() {
        return Err(Failure::WeightsOfPrograms);
    }
    weights::write(path, &compiled.constants.borrow()).map_err(Failure::file("write", path))
}

impl Compile {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.timing.around(|| self.write())
    }

    fn write(&self) -> Result<(), Failure> {
        let budget = Budget { flops: self.validate_flops, tolerance: self.validate_rtol };
        let validate =
            self.validate.then(|| Settings { budget, bisect: self.bisect_rules, ..Settings::default() });
        let jobs = self.jobs.map(usize::from);
        self.options.fit(&self.model)?;
        let mut options = CompileOptions { jobs, validate, ..self.options.resolve()? };
        if self.emit == Form::Library && self.options.partial_eval.is_none() {
            options.unfold = unfold_of(options.opt_level);
        }
        let path = self.output.clone().unwrap_or_else(|| {
            let extension = match self.emit {
                Form::Library => "so",
                Form::Bytecode => "fbc",
                Form::BytecodeText => TEXT,
            };
            PathBuf::from(self.model.file_stem().unwrap_or("model".as_ref())).with_extension(extension)
        });
        can_be_written(&path)?;
        if let Some(weights) = &self.weights {
            if self.emit != Form::Library {
                return Err(Failure::WeightsOfPrograms);
            }
            can_be_written(weights)?;
            options.weights_outside = true;
        }
        if self.emit != Form::Library {
            let file = programs::bytecode(&self.model, &options)?;
            match self.emit {
                Form::BytecodeText => {
                    let text = format!("{:#}", file.program);
                    std::fs::write(&path, text).map_err(Failure::file("write", &path))?;
                }
                _ => write_program(&path, &file)?,
            }
            let (functions, kernels) = (file.program.functions.len(), file.program.kernels.len());
            return print::line(format_args!("{}: {functions} functions, {kernels} kernels", path.display()));
        }
        let compiled = driver::compile(&self.model, &options)?;
        let outside = self.weights.as_deref().map(|file| write_weights(&compiled, file)).transpose()?;
        let link = |package: &Package| {
            let _linking = span("link");
            write(package, path)
        };
        let (path, header) = package_with(&compiled, self.linker.clone(), outside.as_ref(), link)?;
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
