//! Functions for processors that have no instruction to multiply, add and round once, within the same bounds as with one.

use super::single::{check_on, numbers};
use fusion_conversion::targets::cpu;
use fusion_dialects::Target;
use fusion_dialects::module::FpMath;

/// Any x86-64 of such a level.
fn target(cpu: &str) -> Target {
    Target { triple: "x86_64-unknown-linux-gnu".to_owned(), cpu: cpu.to_owned(), ..Target::default() }
}

fn within(function: &str, most: f64, exact: fn(f64) -> f64) {
    check_on((&target("x86-64"), FpMath::default()), "", function, most, &[numbers()], |x| {
        exact(f64::from(x[0]))
    });
}

#[test]
fn exp() {
    within("exp", 2.0, f64::exp);
}

#[test]
fn tanh() {
    within("tanh", 2.0, f64::tanh);
}

#[test]
fn log() {
    within("log", 2.0, f64::ln);
}

#[test]
fn sin() {
    within("sin", 2.0, f64::sin);
}

/// The form is another one, or these tests would say nothing.
#[test]
fn the_pipeline_asks_for_it() {
    let stages = |target: &Target| cpu::pipelines(target).into_iter().map(|(_, p)| p).collect::<String>();
    assert!(stages(&target("x86-64")).contains("unfused=true"));
    assert!(!stages(&target("x86-64-v3")).contains("unfused"));
}
