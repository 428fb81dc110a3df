//! The functions of f64 that become straight code for GPUs, against the C library's, over numbers of all sizes, for vectors and for
//! scalars. The C library is off by up to one unit in the last place itself.

use super::{COUNT, Kernel, run, signed_pairs};
use fusion_conversion::pipelines::{LLVM, LOOP};
use fusion_dialects::Jit;
use fusion_targets::stage::Stage;

/// Units in the last place that each result may be off from that of the C library.
const MOST: f64 = 3.0;

static STRAIGHT: &[Stage] = &[Stage {
    name: "math-approximate",
    pipeline: "builtin.module(func.func(math-approximate{doubles=true}))",
}];
static REMAINDERS: &[Stage] = &[Stage { name: "gpu-math", pipeline: "builtin.module(func.func(gpu-math))" }];

/// A kernel of an operation, in vectors of 2 or one after another, by these stages before the usual ones.
fn compile(operation: &str, operands: usize, kind: &str, stages: &'static [Stage]) -> Jit {
    let kernel = Kernel { ty: "f64", lanes: 2, kind, operation, operands, attributes: "" };
    kernel.compile(|runner, module| {
        [LOOP, stages, LLVM].into_iter().try_for_each(|stages| runner.run(module, stages))
    })
}

/// How many numbers lie between two.
fn distance(got: f64, wanted: f64) -> f64 {
    if got == wanted || (got.is_nan() && wanted.is_nan()) {
        return 0.0;
    }
    if got.is_nan() || wanted.is_nan() {
        return f64::INFINITY;
    }
    let place = |x: f64| {
        let bits = (x.to_bits() & i64::MAX as u64) as i128;
        if x.is_sign_negative() { -bits } else { bits }
    };
    (place(got) - place(wanted)).unsigned_abs() as f64
}

fn check(operation: &str, most: f64, stages: &'static [Stage], columns: &[Vec<f64>]) {
    let library = compile(operation, columns.len(), "serial", &[]);
    for kind in ["vectorized", "serial"] {
        let straight = compile(operation, columns.len(), kind, stages);
        let mut worst = (0.0, Vec::new(), 0.0, 0.0);
        for start in (0..columns[0].len()).step_by(COUNT) {
            let block = |column: &Vec<f64>| {
                (start..start + COUNT).map(|i| column.get(i).copied().unwrap_or(1.0)).collect::<Vec<f64>>()
            };
            let inputs: Vec<Vec<f64>> = columns.iter().map(block).collect();
            for (i, (got, wanted)) in
                run(&straight, &inputs).into_iter().zip(run(&library, &inputs)).enumerate()
            {
                let off = distance(got, wanted);
                if off > worst.0 {
                    worst = (off, inputs.iter().map(|c| c[i]).collect(), got, wanted);
                }
            }
        }
        let (off, operands, got, wanted) = worst;
        println!("{operation} {kind}: {off:.0} units at {operands:?}");
        assert!(
            off <= most,
            "{operation} {kind} of {operands:?} is {got:e}, by the C library {wanted:e}: {off} units"
        );
    }
}

/// Numbers of any bits.
fn mixed(seed: u64, n: usize) -> Vec<u64> {
    let step =
        |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(seed), step).map(|x| x ^ (x >> 31)).skip(1).take(n).collect()
}

fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Numbers of all signs and sizes, many of those that results differ for, those around powers of two, and what is not finite.
fn numbers() -> Vec<f64> {
    let any = mixed(1, 1 << 17).into_iter().map(f64::from_bits);
    let near = [1.0, 4.0, 40.0, 800.0, 1e9]
        .into_iter()
        .flat_map(|most| mixed(2, 1 << 16).into_iter().map(move |x| (fraction(x) * 2.0 - 1.0) * most));
    let around = (0..4096u64).flat_map(|e| (0..9u64).map(move |d| (e << 52).wrapping_add(d).wrapping_sub(4)));
    any.chain(near).chain(around.map(f64::from_bits)).collect()
}

/// Pairs of any bits, pairs of chosen sizes, and every pair of numbers with a rule of their own.
fn pairs(size: impl Fn(f64, f64) -> (f64, f64)) -> [Vec<f64>; 2] {
    let any = 1 << 17;
    let mut x: Vec<f64> = mixed(1, any).into_iter().map(f64::from_bits).collect();
    let mut y: Vec<f64> = mixed(2, any).into_iter().map(f64::from_bits).collect();
    for (a, b) in mixed(3, any).into_iter().zip(mixed(4, any)) {
        let (a, b) = size(fraction(a), fraction(b));
        x.push(a);
        y.push(b);
    }
    let special = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        0.999_999_999_999_999_9,
        1.000_000_000_000_000_2,
        5e-324,
        1e-308,
        1e308,
        9_007_199_254_740_992.0,
        9_007_199_254_740_991.0,
        18_014_398_509_481_986.0,
        f64::INFINITY,
        f64::NAN,
    ];
    for (a, b) in signed_pairs(&special) {
        x.push(a);
        y.push(b);
    }
    [x, y]
}

fn one(function: &str) {
    check(&format!("math.{function}"), MOST, STRAIGHT, &[numbers()]);
}

#[test]
fn exponentials_and_logarithms() {
    for function in ["exp", "log", "sinh", "cosh", "tanh"] {
        one(function);
    }
}

#[test]
fn inverse_hyperbolic_functions() {
    for function in ["asinh", "acosh", "atanh"] {
        one(function);
    }
}

#[test]
fn functions_of_angles_of_all_sizes() {
    for function in ["sin", "cos", "tan"] {
        one(function);
    }
}

#[test]
fn inverse_functions_of_angles() {
    for function in ["asin", "acos", "atan"] {
        one(function);
    }
}

#[test]
fn erf() {
    one("erf");
}

#[test]
fn powers() {
    // Most pairs of any bits overflow: these have results of all sizes.
    let pairs = pairs(|a, b| {
        let base = (a * 200.0 - 100.0).exp2();
        (base, (b * 2200.0 - 1100.0) / base.log2().abs().max(0.01))
    });
    check("math.powf", MOST, STRAIGHT, &pairs);
}

#[test]
fn remainders_are_exact() {
    let pairs = pairs(|a, b| ((a * 2000.0 - 1000.0).exp2(), (b * 2000.0 - 1000.0).exp2() * (0.5 - a)));
    check("arith.remf", 0.0, REMAINDERS, &pairs);
}
