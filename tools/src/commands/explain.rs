//! `fusion explain`: the kernels of a model, what each is made of, what it costs, and why.

use super::options::Options;
use crate::failure::Failure;
use crate::print;
use crate::report::{Report, accuracy, gpu, html, measure, proofs, remarks, source_names};
use clap::Args;
use fusion::driver::{self, CompileOptions, Compiled};
use fusion::load;
use fusion_runtime::Module;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Show the kernels of a model: what was fused into each, what it costs, and why.
///
/// Shows the bytes each reads and writes, its floating-point operations and the seconds predicted; then what fusion saved and how
/// the kernels were found. Remarks can be asked for by value, or as a page of HTML (see docs/reference/explain.md).
#[derive(Debug, Args)]
pub struct Explain {
    /// The model, compiled (.so) or not (.onnx, .relay, .mlir, .mlirbc, .jax). A compiled one tells its kernels alone.
    #[arg(value_name = "MODEL_OR_SO")]
    model: PathBuf,

    /// Print one JSON object, with sizes in bytes and times in seconds.
    #[arg(long)]
    json: bool,

    /// Measure each kernel by itself on random inputs, and the whole model.
    #[arg(long)]
    measure: bool,

    /// Begin no more measurements of kernels after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = super::bench::budget)]
    budget: Duration,

    /// Tell all remarks about a value (named as in the model) or a kernel (by name, or #3 for its number), in place of the tables.
    #[arg(long, value_name = "VALUE")]
    why: Option<String>,

    /// Tell why two values or kernels are not in one kernel, in place of the tables.
    #[arg(long, value_name = "A,B", value_parser = pair, conflicts_with = "why")]
    why_not: Option<(String, String)>,

    /// Tell by which rules a value came to be computed as it is, step by step, in place of the tables.
    #[arg(long, value_name = "VALUE", conflicts_with_all = ["why", "why_not"])]
    proof: Option<String>,

    /// Tell what the kernels and the model are off by, beside the same in double precision, in place of the tables: the bound of algorithms
    /// such as Winograd's, the rules that chose them, and the error measured on random and on hard inputs.
    #[arg(long, conflicts_with_all = ["why", "why_not", "proof"])]
    accuracy: bool,

    /// Write all as a page for the browser: the graph of kernels, their roofline, and the remarks.
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,

    /// Compile for each of these GPUs, and tell what kernels take of them side by side: instructions, registers, spills, shared
    /// memory, occupancy, and the time predicted beside the roof.
    #[arg(long, value_name = "TARGET,...", value_delimiter = ',', conflicts_with_all = ["target", "target_file", "measure", "why", "why_not", "proof", "accuracy", "html"])]
    targets: Vec<String>,

    #[command(flatten)]
    options: Options,
}

impl Explain {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.options.fit(&self.model)?;
        if !self.targets.is_empty() {
            return self.side_by_side();
        }
        if self.accuracy {
            return self.accuracy();
        }
        let report = match load::is_compiled(&self.model)? {
            true => self.of_library()?,
            false => self.of_model()?,
        };
        if let Some(file) = &self.html {
            std::fs::write(file, html::page(&report)).map_err(Failure::file("write", file))?;
        }
        if let Some(value) = &self.why {
            let answer = remarks::why(&report, value)?;
            return self.tell(&answer, || answer.text());
        }
        if let Some((first, second)) = &self.why_not {
            let answer = remarks::why_not(&report, first, second)?;
            return self.tell(&answer, || answer.text());
        }
        if let Some(value) = &self.proof {
            let answer = proofs::proof(&report, value)?;
            return self.tell(&answer, || answer.text());
        }
        self.tell(&report, || report.text())
    }

    /// Prints what is told, as data or for people.
    fn tell(&self, what: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        print::line(if self.json { serde_json::to_string_pretty(what)? } else { text() })
    }

    fn accuracy(&self) -> Result<(), Failure> {
        if load::is_compiled(&self.model)? {
            return Err(Failure::ModelNeeded(self.model.clone()));
        }
        let options = CompileOptions { explain: true, ..self.options.resolve()? };
        if !options.target.is_of_this_machine() {
            return Err(Failure::NotMeasuredHere(options.target.name));
        }
        let mut compiled = driver::compile(&self.model, &options)?;
        let report = Report::of(&mut compiled, &options);
        let told = accuracy::accuracy(&report, &self.model, &compiled, &options)?;
        self.tell(&told, || told.text())
    }

    fn side_by_side(&self) -> Result<(), Failure> {
        if load::is_compiled(&self.model)? {
            return Err(Failure::ModelNeeded(self.model.clone()));
        }
        let mut reports = Vec::new();
        for target in &self.targets {
            let options = Options { target: target.clone(), ..self.options.clone() };
            let options = CompileOptions { explain: true, ..options.resolve()? };
            reports.push(Report::of(&mut driver::compile(&self.model, &options)?, &options));
        }
        self.tell(&reports, || gpu::side_by_side(&reports))
    }

    fn of_library(&self) -> Result<Report, Failure> {
        let module = Module::load(&self.model)?;
        let mut report = Report::of_library(module.description());
        if self.measure {
            report.totals.model_s = Some(measure::seconds(&module, measure::MODEL)?);
        }
        Ok(report)
    }

    fn of_model(&self) -> Result<Report, Failure> {
        let options =
            CompileOptions { explain: true, proofs: self.proof.is_some(), ..self.options.resolve()? };
        if self.measure && !options.target.is_of_this_machine() {
            return Err(Failure::NotMeasuredHere(options.target.name));
        }
        let mut compiled = driver::compile(&self.model, &options)?;
        let mut report = Report::of(&mut compiled, &options);
        report.source_names = source_names::read(&self.model);
        if self.measure {
            self.measured(&mut report, &compiled, &options)?;
        }
        Ok(report)
    }

    fn measured(
        &self,
        report: &mut Report,
        compiled: &Compiled,
        options: &CompileOptions,
    ) -> Result<(), Failure> {
        let (differ, measured) = measure::all(report, compiled, options, self.budget)?;
        if measured < differ {
            print::aside(format_args!(
                "note: {measured} of {differ} kernels were measured; --budget SECONDS allows for more"
            ));
        }
        Ok(())
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (first, second) = text.split_once(',').ok_or("there is no ',' between two names")?;
    match first.trim().is_empty() || second.trim().is_empty() {
        true => Err("a name is empty".to_owned()),
        false => Ok((first.trim().to_owned(), second.trim().to_owned())),
    }
}
