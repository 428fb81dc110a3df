//! How a level is asked for, and what it changes.

use crate::common::{complaint, succeed};

const PRODUCT: &str = "func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %w = relay.constant dense<0.5> : tensor<512x512xf32>
  %y = relay.matmul %x, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
";

fn explained(model: &str, options: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("m.mlir"), model).unwrap();
    succeed(directory.path(), &[&["explain", "m.mlir", "--target", "cpu:znver5"], options].concat())
}

/// Strassen's products and the inner-product trick are of `fast` alone, or of an error budget that allows them.
#[test]
fn normwise_products_are_asked_for() {
    let normwise = |options: &[&str]| {
        let text = explained(PRODUCT, options);
        text.contains("matmul_strassen") || text.contains("matmul_inner_product_trick")
    };
    assert!(!normwise(&[]) && !normwise(&["--fp-math=standard"]) && !normwise(&["--fp-math=strict"]));
    assert!(normwise(&["--fp-math=fast"]) && normwise(&["--max-error=1e-3"]));
    assert!(!normwise(&["--max-error=1e-9"]));
}

/// A module that says which level it is for is compiled so, unless another is asked for.
#[test]
fn a_module_says_its_level() {
    let model = format!("module attributes {{fusion.fp_math = \"fast\"}} {{\n{PRODUCT}}}\n");
    let normwise =
        |text: String| text.contains("matmul_strassen") || text.contains("matmul_inner_product_trick");
    assert!(normwise(explained(&model, &[])));
    assert!(!normwise(explained(&model, &["--fp-math=standard"])));
}

#[test]
fn a_level_that_is_none_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let model = format!("module attributes {{fusion.fp_math = \"exact\"}} {{\n{PRODUCT}}}\n");
    std::fs::write(directory.path().join("m.mlir"), model).unwrap();
    let said = complaint(directory.path(), &["compile", "m.mlir"]);
    assert!(said.contains("it must be \"strict\", \"standard\" or \"fast\""), "{said}");
}

/// What a kernel may be off by, and what it was off by on each kind of inputs.
#[test]
fn accuracy_is_told_of_each_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let [x, w] = ["tensor<1x32x28x28xf32>", "tensor<32x32x3x3xf32>"];
    let model = format!(
        "func.func @main(%x: {x}) -> {x} {{\n  %w = relay.constant dense<0.25> : {w}\n  \
         %y = relay.conv2d %x, %w {{padding = array<i64: 1, 1, 1, 1>}} : ({x}, {w}) -> {x}\n  return %y : {x}\n}}\n"
    );
    std::fs::write(here.join("m.mlir"), model).unwrap();
    let of = |options: &[&str]| -> serde_json::Value {
        let args = [&["explain", "m.mlir", "--accuracy", "--json"], options].concat();
        serde_json::from_str(&succeed(here, &args)).unwrap()
    };
    let told = of(&[]);
    assert_eq!(told["fp_math"], "standard");
    let kernel = &told["kernels"][0];
    assert_eq!(kernel["rules"][0], "winograd", "{told}");
    let bound = kernel["bound"].as_f64().unwrap();
    let random = kernel["measured"][0]["error"].as_f64().unwrap();
    assert!(random <= bound && bound <= 1e-5, "{told}");
    // A budget that is smaller than the bound leaves the form out.
    let within = of(&["--max-error=1e-7"]);
    assert_eq!(within["kernels"][0]["bound"], 0.0, "{within}");
    assert_eq!(within["max_error"], 1e-7);
    let text = succeed(here, &["explain", "m.mlir", "--accuracy"]);
    assert!(text.contains("log-normal") && text.contains("the whole model"), "{text}");
}
