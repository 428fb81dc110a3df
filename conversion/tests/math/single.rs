//! The functions that become straight code, against the same functions of f64, over all numbers of f32: every 1021st one, and
//! all that stand around powers of two, for vectors and for scalars.

use super::{COUNT, Kernel, run, signed_pairs};
use fusion_conversion::pipelines::{LLVM, LOOP};
use fusion_dialects::module::FpMath;
use fusion_dialects::{Jit, Target, module_op};
use fusion_targets::cpu;

/// Units in the last place that each result may be off.
const MOST: f64 = 2.0;
/// The same for those that are composed of several functions.
const MOST_COMPOSED: f64 = 3.0;

/// A kernel of a function, of dialect `math` unless it names its own, in vectors of 16 or one after another.
fn compile(
    (target, fp_math): (&Target, FpMath),
    function: &str,
    operands: usize,
    kind: &str,
    attributes: &str,
) -> Jit {
    let function = if function.contains('.') { function.to_owned() } else { format!("math.{function}") };
    let kernel = Kernel { ty: "f32", lanes: 16, kind, operation: &function, operands, attributes };
    kernel.compile(|runner, module| {
        fp_math.attach(module_op(module));
        runner.replace(cpu::pipelines(target));
        [LOOP, LLVM].into_iter().try_for_each(|stages| runner.run(module, stages))
    })
}

/// How far a result is from the exact one, in units of the last place of f32 there.
fn distance(got: f32, exact: f64) -> f64 {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if f64::from(got) == exact || got == exact as f32 {
        return 0.0;
    }
    // What is beyond all numbers counts as the next one after the greatest.
    let beyond = 128f64.exp2();
    let exact = exact.clamp(-beyond, beyond);
    let got = if got.is_infinite() { f64::from(got.signum()) * beyond } else { f64::from(got) };
    let exponent = (exact.abs().log2().floor()).max(-126.0);
    let unit = (exponent - 23.0).exp2();
    (got - exact).abs() / unit
}

/// Runs a function on columns of numbers, in blocks; says where it is off the most.
fn check(function: &str, most: f64, columns: &[Vec<f32>], exact: impl Fn(&[f32]) -> f64) {
    check_with("", function, most, columns, exact);
}

/// The same of an operation with those attributes.
fn check_with(
    attributes: &str,
    function: &str,
    most: f64,
    columns: &[Vec<f32>],
    exact: impl Fn(&[f32]) -> f64,
) {
    check_on((&Target::default(), FpMath::default()), attributes, function, most, columns, exact);
}

/// The same on a target, with such an arithmetic.
pub fn check_on(
    target: (&Target, FpMath),
    attributes: &str,
    function: &str,
    most: f64,
    columns: &[Vec<f32>],
    exact: impl Fn(&[f32]) -> f64,
) {
    for kind in ["vectorized", "serial"] {
        let jit = compile(target, function, columns.len(), kind, attributes);
        let mut worst = (0.0, Vec::new(), 0.0f32, 0.0);
        let total = columns[0].len();
        for start in (0..total).step_by(COUNT) {
            let at = |i: usize, column: &Vec<f32>| column.get(start + i).copied().unwrap_or(column[0]);
            let block = |column: &Vec<f32>| (0..COUNT).map(|i| at(i, column)).collect::<Vec<f32>>();
            let inputs: Vec<Vec<f32>> = columns.iter().map(block).collect();
            for (i, got) in run(&jit, &inputs).into_iter().enumerate() {
                let operands: Vec<f32> = inputs.iter().map(|c| c[i]).collect();
                let exact = exact(&operands);
                let off = distance(got, exact);
                if off > worst.0 {
                    worst = (off, operands, got, exact);
                }
            }
        }
        let (off, operands, got, exact) = worst;
        println!("{function} {kind}: {off:.3} units at {operands:?}");
        assert!(
            off <= most,
            "{function} {kind} of {operands:?} is {got:e}, exactly {exact:e}: {off:.2} units"
        );
    }
}

/// Numbers of all signs and sizes: every 1021st, those around powers of two, and what is not finite.
pub fn numbers() -> Vec<f32> {
    let spread = (0..=u32::MAX / 1021).map(|i| i * 1021);
    let around = (0..512u32).flat_map(|e| (0..9u32).map(move |d| (e << 23).wrapping_add(d).wrapping_sub(4)));
    spread.chain(around).map(f32::from_bits).collect()
}

fn one(function: &str, exact: fn(f64) -> f64) {
    check(function, MOST, &[numbers()], |x| exact(f64::from(x[0])));
}

fn composed(function: &str, exact: fn(f64) -> f64) {
    check(function, MOST_COMPOSED, &[numbers()], |x| exact(f64::from(x[0])));
}

/// Of angles that are known to be small, and of those known not to be large.
fn angles(function: &str, most: f64, exact: fn(f64) -> f64) {
    for within in [1e-3, 0.2, 0.5, std::f32::consts::FRAC_PI_4, 40_000.0] {
        let attribute = format!("{{loop.within = {within:?} : f64}}");
        let column: Vec<f32> = numbers().into_iter().filter(|x| x.abs() <= within || x.is_nan()).collect();
        check_with(&attribute, function, most, &[column], |x| exact(f64::from(x[0])));
    }
}

/// What is no number stays, whichever operand it is.
#[test]
fn extremes() {
    let (some, nan) = (numbers().into_iter().step_by(16).collect::<Vec<f32>>(), f32::NAN);
    let mut other: Vec<f32> = some.iter().rev().copied().collect();
    other.iter_mut().step_by(7).for_each(|x| *x = nan);
    let any_nan = |x: &[f32]| x.iter().any(|x| x.is_nan());
    let exact =
        |of: fn(f32, f32) -> f32| move |x: &[f32]| f64::from(if any_nan(x) { nan } else { of(x[0], x[1]) });
    check("arith.maximumf", 0.0, &[some.clone(), other.clone()], exact(f32::max));
    check("arith.minimumf", 0.0, &[other, some], exact(f32::min));
}

#[test]
fn functions_of_small_angles() {
    angles("sin", MOST, f64::sin);
    angles("cos", MOST, f64::cos);
    angles("tan", MOST_COMPOSED, f64::tan);
}

#[test]
fn exp() {
    one("exp", f64::exp);
}

#[test]
fn log() {
    one("log", f64::ln);
}

#[test]
fn tanh() {
    one("tanh", f64::tanh);
}

#[test]
fn sin() {
    one("sin", f64::sin);
}

#[test]
fn cos() {
    one("cos", f64::cos);
}

#[test]
fn asin() {
    composed("asin", f64::asin);
}

#[test]
fn acos() {
    one("acos", f64::acos);
}

#[test]
fn atan() {
    composed("atan", f64::atan);
}

#[test]
fn sinh() {
    one("sinh", f64::sinh);
}

#[test]
fn cosh() {
    one("cosh", f64::cosh);
}

#[test]
fn tan() {
    composed("tan", f64::tan);
}

#[test]
fn asinh() {
    composed("asinh", f64::asinh);
}

#[test]
fn acosh() {
    composed("acosh", f64::acosh);
}

#[test]
fn atanh() {
    composed("atanh", f64::atanh);
}

#[test]
fn erf() {
    one("erf", fusion_operators::reference::elementwise::erf);
}

#[test]
fn pow() {
    // Two sequences of all bits, and every pair of numbers with a rule of their own.
    let mixed = |seed: u32, n: usize| {
        let step = move |x: &u32| Some(x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        std::iter::successors(Some(seed), step).map(|x| x ^ (x >> 15)).take(n)
    };
    let any = 1 << 21;
    let mut x: Vec<f32> = mixed(1, any).map(f32::from_bits).collect();
    let mut y: Vec<f32> = mixed(2, any).map(f32::from_bits).collect();
    // Most pairs of any bits overflow: these have results of all sizes.
    let fraction = |x: u32| f64::from(x) / f64::from(u32::MAX);
    for (a, b) in mixed(3, any).zip(mixed(4, any)) {
        let base = (fraction(a) * 40.0 - 20.0).exp2();
        x.push(base as f32);
        y.push(((fraction(b) * 300.0 - 150.0) / base.log2().abs().max(0.01)) as f32);
    }
    let special = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        0.999_999_94,
        1.000_000_1,
        1e-45,
        1e-38,
        3e38,
        16_777_216.0,
        16_777_215.0,
        33_554_434.0,
        f32::INFINITY,
        f32::NAN,
    ];
    for (a, b) in signed_pairs(&special) {
        x.push(a);
        y.push(b);
    }
    check("powf", MOST, &[x, y], |v| f64::from(v[0]).powf(f64::from(v[1])));
}
