//! The shorter forms of `--fp-math=fast`, over all numbers of f32 as the others: each within the units that its file states, and what is no
//! number, infinite, or bounded by 1 as without.

use super::single::{check_on, numbers};
use fusion_dialects::Target;
use fusion_dialects::module::{FpMath, Level};

const FAST: FpMath = FpMath { level: Level::Fast, max_error: None };

fn within(function: &str, most: f64, exact: fn(f64) -> f64) {
    check_on((&Target::default(), FAST), "", function, most, &[numbers()], |x| exact(f64::from(x[0])));
}

#[test]
fn exp() {
    within("exp", 6.0, f64::exp);
    let near: Vec<f32> = numbers().into_iter().filter(|x| x.abs() < 40.0).collect();
    check_on((&Target::default(), FAST), "", "exp", 4.0, &[near], |x| f64::from(x[0]).exp());
}

#[test]
fn tanh() {
    within("tanh", 6.0, f64::tanh);
}

#[test]
fn erf() {
    within("erf", 6.0, fusion_operators::reference::elementwise::erf);
}

/// A function without a shorter form keeps its bound.
#[test]
fn log() {
    within("log", 2.0, f64::ln);
}
