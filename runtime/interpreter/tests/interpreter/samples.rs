//! Kernels of which some elements are compared, where all of them would take too long.

use fusion_dialects::{Op, OpExt, load_context, ops_in, parse_module};
use fusion_interpreter::{Agreement, Budget, Mismatch, agree};

/// A product with an epilogue, whose inner stage is `scale` times the product.
fn product(scale: &str, last: &str) -> String {
    format!(
        "te.kernel @k(%a: tensor<40x30xf32>, %b: tensor<30x20xf32>) -> tensor<40x20xf32> {{
           %0 = te.compute \"product\" axes [40, 20] reduce [30] init [0.0 : f32] {{
           ^bb0(%i: index, %j: index, %k: index):
             %1 = te.load %a[%i, %k] : tensor<40x30xf32> -> f32
             %2 = te.load %b[%k, %j] : tensor<30x20xf32> -> f32
             %3 = arith.mulf %1, %2 : f32
             te.yield %3 : f32
           }} combine {{
           ^bb0(%s: f32, %n: f32):
             %1 = arith.addf %s, %n : f32
             te.yield %1 : f32
           }} : tensor<40x20xf32>
           %1 = te.compute \"scaled\" axes [40, 20] reduce [] init [] {{
           ^bb0(%i: index, %j: index):
             %c = arith.constant {scale} : f32
             %2 = te.load %0[%i, %j] : tensor<40x20xf32> -> f32
             %3 = arith.mulf %2, %c : f32
             te.yield %3 : f32
           }} combine {{}} : tensor<40x20xf32>
           %4 = te.compute \"last\" axes [40, 20] reduce [] init [] {{
           ^bb0(%i: index, %j: index):
             %2 = te.load %1[%i, %j] : tensor<40x20xf32> -> f32
             %3 = {last} %2, %2 : f32
             te.yield %3 : f32
           }} combine {{}} : tensor<40x20xf32>
           te.return %4 : tensor<40x20xf32>
         }}"
    )
}

fn compared(before: &str, after: &str, flops: f64) -> Result<Agreement, Mismatch> {
    let context = load_context();
    let modules = [before, after].map(|source| parse_module(&context, source).unwrap());
    let [before, after] = [0, 1].map(|i| kernel(modules[i].as_operation()));
    agree(before, after, 0, &Budget { flops, tolerance: 1e-4 })
}

fn kernel(module: Op<'_>) -> Op<'_> {
    ops_in(module.body(0).unwrap())[0]
}

/// So few that the kernels above take more than their share.
const FEW: f64 = 1e6;

#[test]
fn what_takes_too_long_is_compared_in_some_elements() {
    let (sum, twice) = (product("3.0", "arith.addf"), product("6.0", "arith.maximumf"));
    assert!(matches!(compared(&sum, &twice, 1e9), Ok(Agreement::Same { sampled: false, .. })));
    match compared(&sum, &twice, FEW) {
        Ok(Agreement::Same { sampled: true, error }) => assert!(error < 1e-6, "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_difference_is_found_in_some_elements() {
    let mismatch = compared(&product("3.0", "arith.addf"), &product("3.0", "arith.mulf"), FEW).unwrap_err();
    assert!(
        mismatch.to_string().contains("@k gives other values: of 256 elements, output 0 is "),
        "{mismatch}"
    );
}

#[test]
fn an_element_that_is_asked_for_again_is_known() {
    let sum_of = |tensor: &str| {
        format!(
            "te.compute axes [1000] reduce [1000] init [0.0 : f32] {{
             ^bb0(%i: index, %j: index):
               %a = te.load {tensor}[%j] : tensor<1000xf32> -> f32
               te.yield %a : f32
             }} combine {{
             ^bb0(%s: f32, %n: f32):
               %b = arith.addf %s, %n : f32
               te.yield %b : f32
             }} : tensor<1000xf32>"
        )
    };
    let source = format!(
        "te.kernel @k(%x: tensor<1000xf32>) -> tensor<1000xf32> {{
           %0 = {}
           %1 = {}
           te.return %1 : tensor<1000xf32>
         }}",
        sum_of("%x"),
        sum_of("%0")
    );
    // Of 256 elements each needs all 1000 of the stage before, each of which needs 1000: without what is known 256 million points.
    assert!(matches!(compared(&source, &source, FEW), Ok(Agreement::Same { sampled: true, .. })));
}
