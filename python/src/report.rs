//! What a compiled model is made of, and where its time goes.

use fusion::driver::{self, CompileOptions};
use fusion::{Compiler, Source};
use fusion_tools::failure::Failure;
use fusion_tools::profile::{Profile, text};
use fusion_tools::report::{Report, html, measure};
use std::time::Duration;

/// A report on a model; kernels are measured for so many seconds, if at all.
fn report(compiler: &Compiler, model: Source, budget: Option<f64>) -> Result<Report, Failure> {
    let options = CompileOptions { explain: true, ..compiler.options()? };
    if budget.is_some() && !options.target.is_of_this_machine() {
        return Err(Failure::NotMeasuredHere(options.target.name));
    }
    let mut compiled = driver::compile(model, &options)?;
    let mut report = Report::of(&mut compiled, &options);
    if let Some(budget) = budget {
        let budget = Duration::try_from_secs_f64(budget).unwrap_or_default();
        measure::all(&mut report, &compiled, &options, budget)?;
    }
    Ok(report)
}

/// As text, as a page of HTML, and as JSON.
pub fn explain(
    compiler: &Compiler,
    model: Source,
    budget: Option<f64>,
) -> Result<(String, String, String), Failure> {
    let report = report(compiler, model, budget)?;
    Ok((report.text(), html::page(&report), serde_json::to_string(&report)?))
}

/// The kernels, each measured by itself: as text and as JSON.
pub fn profile(compiler: &Compiler, model: Source, budget: f64) -> Result<(String, String), Failure> {
    let profile = Profile::of_measured(&report(compiler, model, Some(budget))?);
    Ok((text::text(&profile), serde_json::to_string(&profile)?))
}
