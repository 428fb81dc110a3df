//! `fusion explain --accuracy`: how far kernels are off.
//!
//! ```text
//!   bound      what the normwise forms of a kernel may be off by, and the rules that made them
//!   measured   each kernel by itself, and the whole model, beside the same compiled with --fp-math=strict, whose operators are computed
//!              in double precision: the largest difference, as a part of the largest result, on random inputs and on hard ones
//! ```

use super::Report;
use super::table::{Align, table};
use crate::failure::Failure;
use crate::inputs::random;
use fusion::driver::{CompileOptions, Compiled};
use fusion::load;
use fusion_dialects::module::{FpMath, Level};
use fusion_operators::{DType, Tensor};
use fusion_runtime::Module;
use indexmap::IndexSet;
use serde::Serialize;
use std::path::Path;

/// What inputs are measured on: how they are called, and what they make of the number at a place of a tensor whose last axis is that long.
type Inputs = (&'static str, fn(f64, usize, usize) -> f64);

const INPUTS: &[Inputs] = &[
    ("random", |x, _, _| x),
    ("outlier", |x, at, last| if at % last == last / 3 { 1000.0 * x } else { x }),
    ("log-normal", |x, at, last| x * (8.0 * spread(at / last)).exp()),
    ("cancelling", |x, at, last| if at % last < last / 2 { 1.0 + 1e-3 * x } else { -1.0 + 1e-3 * x }),
    ("denormal", |x, _, _| x * 1e-39),
    ("infinity", |x, at, _| if at == 1 { f64::INFINITY } else { x }),
];

/// A number from -1 to 1 for each row.
fn spread(row: usize) -> f64 {
    let mixed = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    mixed as f64 / f64::from(1 << 23) - 1.0
}

/// The accuracy of a model.
#[derive(Debug, Serialize)]
pub struct Accuracy {
    /// The level it is compiled for.
    pub fp_math: &'static str,
    /// The error budget, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_error: Option<f64>,
    /// The whole model.
    pub model: Vec<Measured>,
    /// Its kernels in the order they run, those that are the same once.
    pub kernels: Vec<KernelAccuracy>,
}

/// The accuracy of a kernel.
#[derive(Debug, Serialize)]
pub struct KernelAccuracy {
    /// Its name.
    pub name: String,
    /// What its normwise forms may be off by, as a part of the largest result; 0 where there are none.
    pub bound: f64,
    /// The rules that made these, or the operators where the source has them.
    pub rules: Vec<String>,
    /// What was measured; nothing of kernels that cannot be compiled by themselves.
    pub measured: Vec<Measured>,
}

/// A difference on some inputs.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// What they are.
    pub inputs: &'static str,
    /// The largest difference of finite results, as a part of the largest one.
    pub error: f64,
    /// Results of which one is a number, or another infinity, and the other is not.
    pub not_finite: usize,
}

/// Measures a model that was just compiled.
pub fn accuracy(
    report: &Report,
    model: &Path,
    compiled: &Compiled,
    options: &CompileOptions,
) -> Result<Accuracy, Failure> {
    let plain = CompileOptions { explain: false, ..options.clone() };
    let whole = compare(model, &load::linked(compiled)?, &plain)?;
    let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
    let file = scratch.path().join("kernel.mlir");
    let alone = options.of_kernel();
    let mut kernels = Vec::new();
    let mut seen = IndexSet::new();
    for row in report.kernels.iter().filter(|row| seen.insert(row.name.as_str())) {
        let entry = row.at.and_then(|(block, place)| report.blocks().get(block)?.kernels.get(place));
        let normwise = entry.map_or(&[][..], |entry| &entry.normwise);
        let rule = |form: &fusion_egraph::remarks::Normwise| {
            form.rule.clone().unwrap_or_else(|| form.operator.clone())
        };
        let measured = match compiled.programs.get(&row.name) {
            Some(program) => {
                std::fs::write(&file, program).map_err(Failure::file("write", &file))?;
                compare(&file, &load::load(&file, &alone)?, &alone)?
            }
            None => Vec::new(),
        };
        kernels.push(KernelAccuracy {
            name: row.name.clone(),
            bound: normwise.iter().map(|form| form.error).sum(),
            rules: normwise.iter().map(rule).collect::<IndexSet<_>>().into_iter().collect(),
            measured,
        });
    }
    let FpMath { level, max_error } = options.fp_math.unwrap_or_default();
    Ok(Accuracy { fp_math: level.name(), max_error, model: whole, kernels })
}

/// The differences of a program from the same compiled strictly.
fn compare(program: &Path, found: &Module, options: &CompileOptions) -> Result<Vec<Measured>, Failure> {
    let strict = FpMath { level: Level::Strict, max_error: None };
    let exact = load::load(program, &CompileOptions { fp_math: Some(strict), ..options.clone() })?;
    let plain = random(found, 0)?;
    let measured = INPUTS.iter().map(|&(name, change)| {
        let inputs = plain.iter().map(|tensor| changed(tensor, change)).collect::<Result<Vec<_>, _>>()?;
        let (found, exact) = (found.run(&inputs)?, exact.run(&inputs)?);
        let mut measured = Measured { inputs: name, error: 0.0, not_finite: 0 };
        for (found, exact) in found.iter().zip(&exact) {
            measured.add(&found.to_f64s(), &exact.to_f64s());
        }
        Ok(measured)
    });
    measured.collect()
}

impl Measured {
    fn add(&mut self, found: &[f64], exact: &[f64]) {
        let finite = exact.iter().copied().filter(|v| v.is_finite());
        let largest = finite.map(f64::abs).fold(f64::MIN_POSITIVE, f64::max);
        for (found, exact) in found.iter().zip(exact) {
            match found.is_finite() && exact.is_finite() {
                true => self.error = self.error.max((found - exact).abs() / largest),
                false => {
                    let same = found == exact || found.is_nan() && exact.is_nan();
                    self.not_finite += usize::from(!same);
                }
            }
        }
    }
}

/// Other numbers in place of the floats of a tensor.
fn changed(tensor: &Tensor, change: fn(f64, usize, usize) -> f64) -> Result<Tensor, Failure> {
    if !matches!(tensor.dtype(), DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        return Ok(tensor.clone());
    }
    let last = tensor.shape().last().copied().unwrap_or(1).max(1);
    let numbers: Vec<f64> =
        tensor.to_f64s().into_iter().enumerate().map(|(at, x)| change(x, at, last)).collect();
    Ok(Tensor::from_f64s(tensor.dtype(), tensor.shape(), &numbers)?)
}

impl Accuracy {
    /// For people.
    pub fn text(&self) -> String {
        let budget =
            self.max_error.map(|error| format!(", at most {error:e} by normwise forms")).unwrap_or_default();
        let names = ["kernel", "bound", "rules"].into_iter().chain(INPUTS.iter().map(|(name, _)| *name));
        let aligned = [Align::Left, Align::Right, Align::Left];
        let columns: Vec<Align> = aligned.into_iter().chain(INPUTS.iter().map(|_| Align::Right)).collect();
        let errors = |measured: &[Measured]| -> Vec<String> {
            (0..INPUTS.len()).map(|at| measured.get(at).map_or("-".to_owned(), Measured::text)).collect()
        };
        let row = |kernel: &KernelAccuracy| {
            let bound = if kernel.bound > 0.0 { format!("{:.1e}", kernel.bound) } else { "-".to_owned() };
            [vec![kernel.name.clone(), bound, kernel.rules.join(", ")], errors(&kernel.measured)].concat()
        };
        let mut rows: Vec<Vec<String>> = vec![names.map(str::to_owned).collect()];
        rows.extend(self.kernels.iter().map(row));
        rows.push(
            [vec!["the whole model".to_owned(), String::new(), String::new()], errors(&self.model)].concat(),
        );
        format!(
            "--fp-math={}{budget}. The bound is of normwise forms; the errors are measured beside --fp-math=strict, as a part of\n\
             the largest result, and +n counts results that are finite in one of the two alone.\n\n{}\n",
            self.fp_math,
            table(&columns, &rows)
        )
    }
}

impl Measured {
    fn text(&self) -> String {
        let others = if self.not_finite > 0 { format!(" +{}", self.not_finite) } else { String::new() };
        format!("{:.1e}{others}", self.error)
    }
}
