//! `--fp-math=strict`: the bits of the reference interpreter, on every target and for any number of threads.

use super::{PLACES, level, options, run_with};
use crate::common::{command, printed};
use fusion_dialects::module::Level;
use fusion_interpreter::random_graphs::{graph, inputs};
use fusion_operators::random::{cases, seeds};
use fusion_operators::{DType, Tensor};
use fusion_runtime::npz;

/// Odd functions of -0 are -0.
#[test]
fn zeros_keep_their_sign() {
    const FUNCTIONS: [&str; 11] =
        ["tanh", "sinh", "atan", "asin", "erf", "sin", "tan", "asinh", "atanh", "log1p", "sqrt"];
    let ty = "tensor<40xf32>";
    let zeros = Tensor::from_slice(&[40], &[-0.0f32; 40]).unwrap();
    for function in FUNCTIONS {
        let text = format!(
            "func.func @main(%x: {ty}) -> {ty} {{\n  %y = relay.{function} %x : ({ty}) -> {ty}\n  return %y : {ty}\n}}\n"
        );
        for (place, level_of) in PLACES.iter().flat_map(|p| [(p, STRICT), (p, Level::Standard)]) {
            let found = &run_with(&options(place, level(level_of)), &text, std::slice::from_ref(&zeros))[0];
            assert_eq!(differs(found, &zeros), None, "{function} on {place}, {level_of:?}");
        }
    }
}

const STRICT: Level = Level::Strict;

/// Where two tensors have other bits, where one has a number; what is no number has many.
fn differs(found: &Tensor, wanted: &Tensor) -> Option<usize> {
    let size = wanted.dtype().size();
    let bytes = |t: &Tensor, i: usize| t.bytes()[i * size..][..size].to_vec();
    let nan = |t: &Tensor, i: usize| t.dtype().is_float() && t.f64_at(i).is_nan();
    (0..wanted.len()).find(|&i| bytes(found, i) != bytes(wanted, i) && !(nan(found, i) && nan(wanted, i)))
}

#[test]
fn random_graphs_have_the_bits_of_the_interpreter() {
    let mut failures = Vec::new();
    for seed in seeds(24) {
        let graph = graph(seed);
        // Functions of f64 have no wider type to be computed in.
        if graph.dtype == DType::F64 {
            continue;
        }
        let given = inputs(&graph.inputs(), seed).unwrap();
        let wanted = graph.run(&given).unwrap();
        let found = run_with(&options("cpu", level(STRICT)), &graph.text(), &given);
        for (found, wanted) in found.iter().zip(&wanted) {
            if let Some(at) = differs(found, wanted) {
                let (a, b) = (found.f64_at(at), wanted.f64_at(at));
                failures
                    .push(format!("seed {seed}: element {at} is {a:e}, and {b:e} there\n{}", graph.text()));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases(24), failures.join("\n"));
}

/// Reductions along and across memory, products, functions, a softmax and a normalization, of numbers of many sizes.
const PROGRAM: &str = "func.func @main(%x: tensor<37x123xf32>, %y: tensor<123x45xf32>)
    -> (tensor<37xf32>, tensor<123xf32>, tensor<37x45xf32>, tensor<37x123xf32>, tensor<37x123xf32>, tensor<37x123xf32>) {
  %a = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<37x123xf32>) -> tensor<37xf32>
  %b = relay.reduce_mean %x {axes = array<i64: 0>} : (tensor<37x123xf32>) -> tensor<123xf32>
  %c = relay.matmul %x, %y : (tensor<37x123xf32>, tensor<123x45xf32>) -> tensor<37x45xf32>
  %d = relay.softmax %x {axis = 1 : i64} : (tensor<37x123xf32>) -> tensor<37x123xf32>
  %e = relay.tanh %x : (tensor<37x123xf32>) -> tensor<37x123xf32>
  %f = relay.mul %e, %x : (tensor<37x123xf32>, tensor<37x123xf32>) -> tensor<37x123xf32>
  %g = relay.add %f, %d : (tensor<37x123xf32>, tensor<37x123xf32>) -> tensor<37x123xf32>
  %h = relay.exp %g : (tensor<37x123xf32>) -> tensor<37x123xf32>
  return %a, %b, %c, %d, %g, %h : tensor<37xf32>, tensor<123xf32>, tensor<37x45xf32>, tensor<37x123xf32>, tensor<37x123xf32>, tensor<37x123xf32>
}
";

#[test]
fn all_targets_have_the_same_bits() {
    let [x, _] = super::hard::Hard::LogNormal.operands(DType::F32, [37, 123, 45], 3);
    let [_, y] = super::hard::Hard::Cancelling.operands(DType::F32, [37, 123, 45], 3);
    let of = |place: &str| run_with(&options(place, level(STRICT)), PROGRAM, &[x.clone(), y.clone()]);
    let wanted = of(PLACES[0]);
    let processors = ["cpu:x86-64-v3", "cpu:x86-64-v2"];
    for place in PLACES[1..].iter().chain(&processors) {
        for (number, (found, wanted)) in of(place).iter().zip(&wanted).enumerate() {
            if let Some(at) = differs(found, wanted) {
                let (a, b) = (found.f64_at(at), wanted.f64_at(at));
                panic!("{place}: element {at} of result {number} is {a:e}, and {b:e} on the processor");
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    std::fs::write(here.join("m.mlir"), PROGRAM).unwrap();
    let [x, y] = super::hard::Hard::LogNormal.operands(DType::F32, [37, 123, 45], 4);
    npz::write(&here.join("x.npz"), [("input_0", &x), ("input_1", &y)]).unwrap();
    let of = |threads: &str| {
        let to = format!("{threads}.npz");
        let args = ["run", "m.mlir", "--fp-math=strict", "--inputs", "x.npz", "--outputs", &to];
        printed(&args, command(here, &args).env("FUSION_THREADS", threads).output().unwrap());
        npz::read(&here.join(to)).unwrap().into_values().collect::<Vec<_>>()
    };
    let (one, three) = (of("1"), of("3"));
    assert!(one.iter().zip(&three).all(|(a, b)| differs(a, b).is_none()));
}

/// The sums are those of the source: `1e8 + 1 + ... - 1e8` in order, each step in double precision, and no product is fused.
#[test]
fn sums_are_rounded_once() {
    let text = "func.func @main(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %y = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
";
    let x = [1e8f32, 1.0, 1.0, -1e8, 3e38, 3e38, -3e38, -3e38, 1e-30, 1.0, 1e-30, -1.0];
    let x = Tensor::from_slice(&[3, 4], &x).unwrap();
    let found = run_with(&options("cpu", level(STRICT)), text, &[x]);
    // In f32 the first would be 0. 1e-30 is lost beside 1 in double precision as well.
    assert_eq!(found[0].to_f64s(), [2.0, 0.0, 0.0]);
}
