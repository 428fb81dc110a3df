//! StableHLO programs: what the text and the artifact of one program become, and that nothing damaged makes the importer panic.
//!
//! `data/sum.mlirbc` is what `jax.export` writes for `lambda x: x.sum(1)` of a tensor of any number of rows of 4.

use fusion_dialects::{Context, OperationLike, load_context};
use fusion_importers::stablehlo::{Shapes, import, is_stablehlo};
use fusion_operators::Dim;

const SUM: &[u8] = include_bytes!("data/sum.mlirbc");

const TEXT: &str = r#"
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf32> {jax.arg_info = "x"}) -> (tensor<2xf32> {jax.result_info = "y"}) {
    %cst = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %1 = call @scale(%0, %cst) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @scale(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.multiply"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"#;

fn imported(context: &Context, bytes: &[u8], shapes: &Shapes) -> Result<String, String> {
    let module = import(context, "model", bytes.to_vec(), shapes).map_err(|error| error.to_string())?;
    assert!(module.as_operation().verify());
    Ok(module.as_operation().to_string())
}

#[test]
fn content_shows_the_form() {
    assert!(is_stablehlo(SUM));
    assert!(is_stablehlo(TEXT.as_bytes()));
    assert!(is_stablehlo(
        b"module { sdy.mesh @m = <[]>\n func.func @main() { %0, %1:2 = \"stablehlo.iota\"() } }"
    ));
    assert!(!is_stablehlo(b"func.func @main(%x: tensor<2xf32>) { relay.abs %x }"));
    assert!(!is_stablehlo(b"// as stablehlo.abs\nfunc.func @main(%x: tensor<2xf32>) { relay.abs %x }"));
    assert!(!is_stablehlo(b"func.func @main() {\n%x = relay.abs %y loc(\"stablehlo.abs\") }"));
    assert!(!is_stablehlo(&[0xff, 0, 8, 1]));
}

#[test]
fn an_artifact_with_symbolic_shapes() {
    let context = load_context();
    let text = imported(&context, SUM, &Shapes::new()).unwrap();
    assert!(text.contains("relay.reduce_sum"), "{text}");
    assert!(text.contains(r##"#relay.dims<["_arg0.0", ""]>"##), "{text}");
    let shapes = Shapes::from([("arg0".to_owned(), vec![Dim::Static(3), Dim::Static(4)])]);
    let text = imported(&context, SUM, &shapes).unwrap();
    assert!(text.contains("(tensor<3x4xf32>) -> tensor<3xf32>"), "{text}");
}

#[test]
fn a_shape_that_contradicts_is_an_error() {
    let context = load_context();
    let shapes = Shapes::from([("arg0".to_owned(), vec![Dim::Static(3), Dim::Static(5)])]);
    let error = imported(&context, SUM, &shapes).unwrap_err();
    assert!(error.contains("is given the shape [3, 5]"), "{error}");
    let shapes = Shapes::from([("y".to_owned(), vec![Dim::Static(3)])]);
    let error = imported(&context, TEXT.as_bytes(), &shapes).unwrap_err();
    assert!(error.contains("y, which is no input; the inputs are x"), "{error}");
}

#[test]
fn texts_that_are_cut_off_are_errors() {
    let context = load_context();
    imported(&context, TEXT.as_bytes(), &Shapes::new()).unwrap();
    for end in (0..TEXT.trim_end().len()).step_by(7) {
        imported(&context, &TEXT.as_bytes()[..end], &Shapes::new()).unwrap_err();
    }
}

#[test]
fn artifacts_that_are_cut_off_are_errors() {
    let context = load_context();
    for end in 0..SUM.len() {
        import(&context, "model", SUM[..end].to_vec(), &Shapes::new()).map(drop).unwrap_err();
    }
}

#[test]
fn damaged_artifacts_are_errors_or_programs() {
    let context = load_context();
    for at in 4..SUM.len() {
        for flip in [1, 0x10, 0x80, 0xff] {
            let mut bytes = SUM.to_vec();
            bytes[at] ^= flip;
            drop(import(&context, "model", bytes, &Shapes::new()));
        }
    }
}

#[test]
fn brackets_of_any_depth_are_refused() {
    let context = load_context();
    let text = format!("func.func @main() {{ stablehlo.x {} }}", "[".repeat(100_000));
    let error = imported(&context, text.as_bytes(), &Shapes::new()).unwrap_err();
    assert!(error.contains("nested more than 128 levels deep"), "{error}");
}

#[test]
fn calls_that_double_end_with_a_sentence() {
    let context = load_context();
    let mut text =
        String::from("func.func @f0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n");
    for i in 1..40 {
        let name = if i == 39 { "main".to_owned() } else { format!("f{i}") };
        let call = format!("call @f{}(%x) : (tensor<f32>) -> tensor<f32>", i - 1);
        text += &format!(
            "func.func @{name}(%x: tensor<f32>) -> tensor<f32> {{ %0 = {call}\n %1 = {call}\n return %1 : tensor<f32> }}\n"
        );
    }
    let error = imported(&context, text.as_bytes(), &Shapes::new()).unwrap_err();
    assert!(error.contains("has more than 1048576 operations"), "{error}");
}
