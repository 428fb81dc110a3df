//! Validation finds what a wrong pass does, and says what it could not check.

use crate::common::alone;
use fusion::validate::{self, Settings};
use fusion_dialects::relay::Builder;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, kind_of, nested_ops, parse_module, register, run_passes,
};
use fusion_operators::Attrs;
use fusion_operators::ops::elementwise::{ADD, SUB};
use std::process::Command;

/// Makes differences of the sums whose operands differ.
struct WrongSums;

impl Pass for WrongSums {
    const NAME: &'static str = "test-wrong-sums";
    const DESCRIPTION: &'static str = "Make differences of sums";
    const ANCHOR: Option<&'static str> = Some("func.func");

    fn run<'c>(function: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        for op in nested_ops(function) {
            let is_sum = matches!(kind_of(op), Some(Kind::Operator(operator)) if operator.is(&ADD));
            let operands = op.operand_values();
            if is_sum && operands[0] != operands[1] {
                let builder = Builder::new(Build::before(op));
                let values = builder.op(&SUB, &operands, &Attrs::new());
                op.replace_all_uses(&values.map_err(|why| PassError::at(op, why))?);
                op.erase();
            }
        }
        Ok(())
    }
}

const PROGRAM: &str = r#"
func.func @right(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @unknown(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @large(%x: tensor<9999999xf32>, %y: tensor<9999999xf32>) -> tensor<9999999xf32> {
  %0 = relay.add %x, %y : (tensor<9999999xf32>, tensor<9999999xf32>) -> tensor<9999999xf32>
  return %0 : tensor<9999999xf32>
}
func.func @wrong(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"#;

#[test]
fn a_wrong_pass_is_found_and_shown() {
    alone("validate::a_wrong_pass_is_found_and_shown", check_wrong_pass);
}

fn check_wrong_pass() {
    let directory = tempfile::tempdir().unwrap();
    fusion::register_passes();
    register::<WrongSums>();
    let mut settings = Settings { directory: directory.path().to_owned(), ..Settings::default() };
    settings.budget.flops = 1e6;
    let report = validate::start(settings);
    let context = fusion_dialects::load_context();
    context.enable_multi_threading(false);
    let module = parse_module(&context, PROGRAM).unwrap();
    let errors = run_passes(&module, "builtin.module(func.func(test-wrong-sums))").unwrap_err();

    let said = &errors[0];
    assert!(said.contains("test-wrong-sums is wrong: @wrong gives other values: output 0 is "), "{said}");
    assert!(said.contains(
        " of the largest element, 1e-4 is allowed (inputs of seed 0); the first value that is lost is "
    ));
    assert!(said.contains("is that of relay.add at "), "{said}");
    let report = report.lock().unwrap().clone();
    assert_eq!(report.mismatches.len(), 1);
    let lines = report.lines();
    assert_eq!(
        lines,
        [
            "not validated: test-wrong-sums: @unknown: its argument 0 has an unknown extent",
            "not validated: test-wrong-sums: @large: it takes 2.0e7 operations, more than the 1.0e6 that are allowed",
        ]
    );

    // What is written is the program before the pass, which goes wrong again.
    let file = directory.path().join("test-wrong-sums-wrong.mlir");
    let text = std::fs::read_to_string(&file).unwrap();
    let pipeline =
        "--pass-pipeline='builtin.module(func.func(test-wrong-sums))' --validate-passes --validate-seed=0";
    assert!(text.lines().nth(1).unwrap().contains(pipeline), "{text}");
    let again = parse_module(&context, &text).unwrap();
    assert!(run_passes(&again, "builtin.module(func.func(test-wrong-sums))").is_err());
}

#[test]
fn models_are_compiled_with_validation() {
    let directory = tempfile::tempdir().unwrap();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/offline/mlp.mlir");
    let output = Command::new(env!("CARGO_BIN_EXE_fusion"))
        .args(["compile", model, "-o", "m.so", "--validate"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("validated: relay-optimize: @main (largest error "), "{said}");
    assert!(said.contains("not validated: te-lower: @"), "{said}");
}
