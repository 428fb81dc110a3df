//! What `--fp-math` promises (docs/explanation/numerics.md), on inputs that are hard for rounding: against double precision and a sum of f32 one after
//! the other.

mod convolutions;
mod hard;
mod levels;
mod long;
mod normalized;
mod products;
mod strict;
mod winograd;

use fusion::driver::{CompileOptions, Target};
use fusion_dialects::module::{FpMath, Level};
use fusion_operators::{DType, Tensor};

/// Where code runs: this processor, and GPUs of both vendors, emulated.
const PLACES: [&str; 3] = ["cpu", "nvidia:sm_90a", "amd:gfx942"];

const fn level(level: Level) -> FpMath {
    FpMath { level, max_error: None }
}

fn options(place: &str, fp_math: FpMath) -> CompileOptions {
    let target: Target = place.parse().unwrap();
    let target = if place == "cpu" { Target::uncalibrated() } else { target.emulated() };
    CompileOptions { fp_math: Some(fp_math), ..CompileOptions::for_target(target) }
}

/// What a program gives.
fn run_with(options: &CompileOptions, text: &str, inputs: &[Tensor]) -> Vec<Tensor> {
    fusion::register_passes();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.mlir");
    std::fs::write(&path, text).unwrap();
    let module = fusion::load::load(&path, options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.run(inputs).unwrap()
}

fn run(place: &str, fp_math: FpMath, text: &str, inputs: &[Tensor]) -> Tensor {
    run_with(&options(place, fp_math), text, inputs).remove(0)
}

/// The type of a tensor as programs have it.
fn ty(dtype: DType, shape: &[usize]) -> String {
    let extents: String = shape.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{extents}{}>", dtype.mlir_name())
}

/// A result beside the exact one and the sum of the sizes of its terms.
struct Element {
    found: f64,
    exact: f64,
    size: f64,
}

impl Element {
    /// The error as a part of the sizes of all terms; none where the result is exact, infinite where one is no number and the other is.
    fn error(&self) -> f64 {
        let same = self.found == self.exact || self.found.is_nan() && self.exact.is_nan();
        if same {
            return 0.0;
        }
        let error = (self.found - self.exact).abs() / self.size;
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

/// The largest error that rounding to a type adds, as a part of a number.
fn rounding(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-11),
        DType::BF16 => 2f64.powi(-8),
        _ => 2f64.powi(-24),
    }
}
