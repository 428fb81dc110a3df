//! The applications of rules that break a result are found, whatever else is applied beside them.

use crate::common::alone;
use fusion::driver::{self, CompileOptions, Target};
use fusion::validate::{self, Settings};
use fusion_dialects::{parse_module, run_passes};
use fusion_egraph::bisect::MOST_RUNS;
use fusion_egraph::rule::{Rule, rule};
use fusion_egraph::rules::{self, Family};

/// It holds of tensors of one number, so that the samples of the e-graph do not contradict it.
fn wrong_order() -> Rule {
    let left = "(tanh ?t (reverse ?r (mul ?a ?x ?y)))";
    rule("wrong-order", "tanh reverse(x y) = tanh(x y)", left, "(tanh ?t (mul ?a ?x ?y))")
}

/// Right rules apply to it: the order of sums and products, factors, zeros. The wrong one needs `add-zero` to find its left side.
const PROGRAM: &str = r#"
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %0 = relay.mul %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.add %0, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %r = relay.reverse %1 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.tanh %r : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.mul %x, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = relay.add %2, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = relay.relu %4 : (tensor<8xf32>) -> tensor<8xf32>
  %6 = relay.relu %5 : (tensor<8xf32>) -> tensor<8xf32>
  return %6 : tensor<8xf32>
}
"#;

#[test]
fn the_fewest_applications_that_break_a_result_are_found() {
    alone("bisect::the_fewest_applications_that_break_a_result_are_found", check_bisection);
}

fn check_bisection() {
    let directory = tempfile::tempdir().unwrap();
    fusion::register_passes();
    rules::add(Family::Algebra, wrong_order);
    let settings = Settings { directory: directory.path().to_owned(), bisect: true, ..Settings::default() };
    validate::start(settings.clone());
    let context = fusion_dialects::load_context();
    context.enable_multi_threading(false);

    // As fusion-opt --validate-passes --bisect-rules.
    let module = parse_module(&context, PROGRAM).unwrap();
    let errors = run_passes(&module, "builtin.module(relay-optimize)").unwrap_err();
    let said = errors.join("\n");
    assert!(said.contains("relay-optimize is wrong: @main gives other values"), "{said}");
    let (_, blame) = said.split_once("applications of rules ").unwrap_or_else(|| panic!("{said}"));
    assert!(blame.starts_with("2 together break the result, and none of them can be left out"), "{said}");
    let lines: Vec<&str> = blame.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("add-zero at "), "{said}");
    assert!(lines[1].starts_with("wrong-order at "), "{said}");
    assert!(
        lines[1]
            .ends_with(" of @main: (tanh {} (reverse {axes=[0]} (mul {} x0 x1))) = (tanh {} (mul {} x0 x1))"),
        "{said}"
    );
    let runs = blame.split_once("(found in ").and_then(|(_, rest)| rest.split_once(' ')).unwrap().0;
    assert!(runs.parse::<usize>().unwrap() < MOST_RUNS / 4, "{said}");

    // What is written makes just these, and goes wrong again; with one of them it is right.
    let file = directory.path().join("relay-optimize-wrong.mlir");
    let text = std::fs::read_to_string(&file).unwrap();
    let pipeline = text.lines().find_map(|line| line.split_once("--pass-pipeline='")).unwrap().1;
    let pipeline = pipeline.split_once('\'').unwrap().0;
    let keys = pipeline.split_once("only=").unwrap().1.trim_end_matches(['}', ')']);
    let again = |pipeline: &str| run_passes(&parse_module(&context, &text).unwrap(), pipeline);
    assert!(again(pipeline).is_err());
    for key in keys.split('+') {
        again(&format!("builtin.module(relay-optimize{{only={key}}})")).unwrap();
    }
    again("builtin.module(relay-optimize{applications=0})").unwrap();

    // As fusion compile --validate --bisect-rules, where all forms of all values are compared: there the first wrong one is an error.
    let model = directory.path().join("model.mlir");
    std::fs::write(&model, PROGRAM).unwrap();
    let options =
        CompileOptions { validate: Some(settings), ..CompileOptions::for_target(Target::uncalibrated()) };
    let Err(error) = driver::compile(&model, &options) else { panic!("the wrong rule was not noticed") };
    let said = error.to_string();
    assert!(said.contains("rule wrong-order says that (tanh"), "{said}");
    assert!(said.contains("2 together break the result"), "{said}");
}
