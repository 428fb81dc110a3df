//! Random programs of elementwise operators: as relay, as relay after passes, and as a te kernel.

use super::*;
use melior::pass::PassManager;
use std::fmt::Write;

/// Operators with the scalar operation that is the same; `f64` leaves no room for rounding.
const UNARY: &[(&str, &str)] = &[("neg", "arith.negf"), ("abs", "math.absf"), ("floor", "math.floor")];
const BINARY: &[(&str, &str)] = &[
    ("add", "arith.addf"),
    ("sub", "arith.subf"),
    ("mul", "arith.mulf"),
    ("maximum", "arith.maximumf"),
    ("minimum", "arith.minimumf"),
];

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

const COLUMNS: &str = "tensor<3xf64>";
const MATRIX: &str = "tensor<2x3xf64>";

/// A program of `%x: 2x3` and `%y: 3` in relay (`@main`) and as a kernel (`@kernel`).
fn program(random: &mut Random, length: usize) -> String {
    let (mut relay, mut scalars) = (String::new(), String::new());
    let mut types = vec![("x".to_owned(), MATRIX), ("y".to_owned(), COLUMNS)];
    for i in 0..length {
        let (a, from) = types[random.below(types.len())].clone();
        if random.below(3) == 0 {
            let (op, scalar) = UNARY[random.below(UNARY.len())];
            writeln!(relay, "%v{i} = relay.{op} %{a} : ({from}) -> {from}").unwrap();
            writeln!(scalars, "%v{i} = {scalar} %{a} : f64").unwrap();
            types.push((format!("v{i}"), from));
        } else {
            let (b, other) = types[random.below(types.len())].clone();
            let (op, scalar) = BINARY[random.below(BINARY.len())];
            let to = if [from, other].contains(&MATRIX) { MATRIX } else { COLUMNS };
            writeln!(relay, "%v{i} = relay.{op} %{a}, %{b} : ({from}, {other}) -> {to}").unwrap();
            writeln!(scalars, "%v{i} = {scalar} %{a}, %{b} : f64").unwrap();
            types.push((format!("v{i}"), to));
        }
    }
    let last = &types[types.len() - 1].0;
    let ty = types[types.len() - 1].1;
    let other = types[random.below(types.len())].clone();
    format!(
        "func.func @main(%x: {MATRIX}, %y: {COLUMNS}) -> ({MATRIX}, {}) {{
           {relay}
           %last = relay.add %{last}, %x : ({ty}, {MATRIX}) -> {MATRIX}
           return %last, %{} : {MATRIX}, {}
         }}
         te.kernel @kernel(%tx: {MATRIX}, %ty: {COLUMNS}) -> {MATRIX} {{
           %0 = te.compute axes [2, 3] reduce [] init [] {{
           ^bb0(%i: index, %j: index):
             %x = te.load %tx[%i, %j] : {MATRIX} -> f64
             %y = te.load %ty[%j] : {COLUMNS} -> f64
             {scalars}
             %last = arith.addf %{last}, %x : f64
             te.yield %last : f64
           }} combine {{}} : {MATRIX}
           te.return %0 : {MATRIX}
         }}",
        other.1, other.0, other.1
    )
}

fn inputs(random: &mut Random) -> [Tensor; 2] {
    let mut tensor = |shape: &[usize]| {
        let values: Vec<f64> =
            (0..shape.iter().product()).map(|_| random.below(17) as f64 / 4.0 - 2.0).collect();
        Tensor::from_f64s(DType::F64, shape, &values).unwrap()
    };
    [tensor(&[2, 3]), tensor(&[3])]
}

/// Passes that must not change what a program computes; on quarters of small integers, all of them are exact.
const PIPELINES: &[&str] = &[
    "builtin.module(canonicalize,cse,relay-fuse-ops)",
    "builtin.module(relay-optimize)",
    "builtin.module(relay-optimize{check=1000000})",
    "builtin.module(relay-optimize{strategy=xla})",
    "builtin.module(relay-optimize{strategy=none})",
];

#[test]
fn passes_and_kernels_keep_what_random_programs_compute() {
    fusion_dialects::register_upstream_passes();
    fusion_transforms::register();
    for seed in fusion_operators::random::seeds(60) {
        let mut random = Random(seed);
        let source = program(&mut random, 1 + seed as usize % 12);
        let inputs = inputs(&mut random);
        let context = load_context();
        let module = parse_module(&context, &source).unwrap();
        let run = |module: &melior::ir::Module, name| {
            fusion_interpreter::run_function(module.as_operation(), name, &inputs)
        };
        let expected = run(&module, "main").unwrap();
        assert_eq!(run(&module, "kernel").unwrap(), expected[..1], "as a kernel:\n{source}");
        for pipeline in PIPELINES {
            let mut module = parse_module(&context, &source).unwrap();
            let passes = PassManager::new(&context);
            melior::utility::parse_pass_pipeline(passes.as_operation_pass_manager(), pipeline).unwrap();
            passes.run(&mut module).unwrap();
            let found = run(&module, "main").unwrap();
            // As numbers: both zeros are equal.
            let numbers = |values: &[Tensor]| values.iter().map(Tensor::to_f64s).collect::<Vec<_>>();
            assert_eq!(numbers(&found), numbers(&expected), "after {pipeline}:\n{source}");
        }
    }
}
