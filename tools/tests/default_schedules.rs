//! A default schedule that cannot be lowered is a fault of the compiler's: the kernel gets the plain one, and who compiles is told.

use crate::contradictions::in_a_process;
use fusion_dialects::{module_op, parse_module, run_passes};

/// A location says that te-schedule decided it.
const PROGRAM: &str = r#"
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %0 = te.axes %y : !te.axis
  te.vectorize %0
  %z = te.stage "z"
  %1 = te.axes %z : !te.axis
  te.unroll %1
} LOCATION
"#;

fn lowered(location: &str) -> Result<String, Vec<String>> {
    fusion::register_passes();
    let context = fusion_dialects::load_context();
    let module = parse_module(&context, &PROGRAM.replace("LOCATION", location)).unwrap();
    run_passes(&module, "builtin.module(te-lower)")?;
    Ok(module_op(&module).to_string())
}

#[test]
fn the_plain_one_takes_its_place() {
    let output = in_a_process("default_schedules::the_plain_one_takes_its_place", "warn", || {
        let text = lowered("loc(\"te-schedule\")").unwrap();
        assert!(text.contains("loop.for 8 serial") && !text.contains("te."), "{text}");
    });
    if let Some(output) = output {
        let said = String::from_utf8_lossy(&output.stderr);
        let message = "the default schedule of kernel \"k\" cannot be lowered: 'te.stage' op names no stage";
        assert!(said.contains(message), "{said}");
        assert!(said.contains("the kernel gets the plain schedule. This is a bug in fusion"), "{said}");
    }
}

#[test]
fn a_schedule_of_ones_own_is_an_error() {
    in_a_process("default_schedules::a_schedule_of_ones_own_is_an_error", "warn", || {
        for location in ["", "loc(\"\")", "loc(\"mine\")"] {
            let said = lowered(location).unwrap_err().join("\n");
            assert!(said.contains("names no stage of the kernel; its stages are \"y\""), "{said}");
        }
    });
}
