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

/// Strassen's products and inner products by pairs are of `fast` alone, or of an error budget that allows them.
#[test]
fn normwise_products_are_asked_for() {
    let normwise = |options: &[&str]| {
        let text = explained(PRODUCT, options);
        text.contains("by_halves") || text.contains("by_pairs")
    };
    assert!(!normwise(&[]) && !normwise(&["--fp-math=standard"]) && !normwise(&["--fp-math=strict"]));
    assert!(normwise(&["--fp-math=fast"]) && normwise(&["--max-error=1e-3"]));
    assert!(!normwise(&["--max-error=1e-9"]));
}

/// A module that says which level it is for is compiled so, unless another is asked for.
#[test]
fn a_module_says_its_level() {
    let model = format!("module attributes {{fusion.fp_math = \"fast\"}} {{\n{PRODUCT}}}\n");
    let normwise = |text: String| text.contains("by_halves") || text.contains("by_pairs");
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
