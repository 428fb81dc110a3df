//! A wrong rule is seen while compiling: the block is compiled as its source has it, and who compiles is told.

use fusion_dialects::{module_op, parse_module, run_passes};
use fusion_egraph::rule::{Rule, rule};
use fusion_egraph::rules::{self, Family};
use std::process::{Command, Output};

/// What a program without it would not become.
fn wrong_sum() -> Rule {
    rule("wrong-sum", "x + y = x", "(add ?a ?x ?y)", "?x")
}

const PROGRAM: &str = r#"
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("the sum")
  %1 = relay.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.relu %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
"#;

/// The rule holds for a whole process, so each of these has one.
pub fn in_a_process(test: &str, on_contradiction: &str, run: impl FnOnce()) -> Option<Output> {
    const ALONE: &str = "FUSION_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        run();
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, "1")
        .env("FUSION_CONTRADICTION", on_contradiction);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(output)
}

/// Optimizes the program with the rule: its text, or the errors.
fn optimized() -> Result<String, Vec<String>> {
    fusion::register_passes();
    rules::add(Family::Algebra, wrong_sum);
    let context = fusion_dialects::load_context();
    let module = parse_module(&context, PROGRAM).unwrap();
    run_passes(&module, "builtin.module(relay-optimize)")?;
    Ok(module_op(&module).to_string())
}

#[test]
fn the_block_is_compiled_as_its_source_has_it() {
    let test = "contradictions::the_block_is_compiled_as_its_source_has_it";
    let output = in_a_process(test, "warn", || {
        let text = optimized().unwrap();
        assert!(text.contains("relay.add"), "{text}");
        // No other rule was applied either.
        assert_eq!(text.matches("relay.relu").count(), 2, "{text}");
    });
    if let Some(output) = output {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("warning: the sum: rules wrong-sum contradict themselves in this block"),
            "{said}"
        );
        assert!(said.contains("it is compiled without rules. This is a bug in fusion"), "{said}");
    }
}

#[test]
fn it_is_an_error_where_that_is_asked_for() {
    in_a_process("contradictions::it_is_an_error_where_that_is_asked_for", "error", || {
        let said = optimized().unwrap_err().join("\n");
        assert!(said.contains("rules wrong-sum contradict themselves in this block"), "{said}");
        assert!(said.contains("two values are said to be equal, but on a sample one is "), "{said}");
    });
}
