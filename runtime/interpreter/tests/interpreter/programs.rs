//! Functions, control flow, closures and references.

use super::*;

#[test]
fn functions_call_functions() {
    let results = run(
        "func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
           %0 = relay.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
           return %0 : tensor<2xf32>
         }
         func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
           %c = relay.constant dense<[10.0, 20.0]> : tensor<2xf32>
           %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
           return %0, %c : tensor<2xf32>, tensor<2xf32>
         }",
        &[f32s(&[2], &[1.0, 2.0])],
    );
    assert_eq!(results.unwrap(), [f32s(&[2], &[2.0, 4.0]), f32s(&[2], &[10.0, 20.0])]);
}

#[test]
fn tuples_have_elements() {
    let results = run(
        "func.func @main(%x: tensor<1xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
           %0 = relay.tuple %x, %y : (tensor<1xf32>, tensor<2xf32>) -> tuple<tensor<1xf32>, tensor<2xf32>>
           %1 = relay.get %0[1] : tuple<tensor<1xf32>, tensor<2xf32>> -> tensor<2xf32>
           return %1 : tensor<2xf32>
         }",
        &[f32s(&[1], &[1.0]), f32s(&[2], &[2.0, 3.0])],
    );
    assert_eq!(results.unwrap(), [f32s(&[2], &[2.0, 3.0])]);
}

#[test]
fn branches_are_taken_by_the_condition() {
    let source = "func.func @main(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
        %0 = relay.if %c {
          %1 = relay.neg %x : (tensor<f32>) -> tensor<f32>
          relay.yield %1 : tensor<f32>
        } else {
          relay.yield %x : tensor<f32>
        } : (tensor<i1>) -> tensor<f32>
        return %0 : tensor<f32>
      }";
    for (condition, expected) in [(1, -3.0), (0, 3.0)] {
        let condition = Tensor::from_ints(DType::Bool, &[], &[condition]).unwrap();
        assert_eq!(run(source, &[condition, f32s(&[], &[3.0])]).unwrap(), [f32s(&[], &[expected])]);
    }
}

/// Doubles while below 100.
const DOUBLING: &str = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %most = relay.constant dense<100.0> : tensor<f32>
    %0 = relay.while (%x) {
    ^bb0(%s: tensor<f32>):
      %1 = relay.less %s, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
      relay.yield %1 : tensor<i1>
    } do {
    ^bb0(%s: tensor<f32>):
      %1 = relay.add %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relay.yield %1 : tensor<f32>
    } : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }";

#[test]
fn loops_end_when_their_condition_is_false() {
    assert_eq!(run(DOUBLING, &[f32s(&[], &[3.0])]).unwrap(), [f32s(&[], &[192.0])]);
}

#[test]
fn endless_loops_are_given_up() {
    let limits = Limits { steps: 1000, ..Limits::default() };
    let error = run_within(DOUBLING, &[f32s(&[], &[0.0])], limits).unwrap_err().to_string();
    assert!(error.ends_with("is reached after 1000 steps, more are not allowed"), "{error}");
}

#[test]
fn endless_recursion_is_given_up() {
    let limits = Limits { depth: 128, ..Limits::default() };
    let error = run_within(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {
           %0 = call @main(%x) : (tensor<f32>) -> tensor<f32>
           %1 = relay.neg %0 : (tensor<f32>) -> tensor<f32>
           return %1 : tensor<f32>
         }",
        &[f32s(&[], &[1.0])],
        limits,
    );
    let error = error.unwrap_err().to_string();
    assert!(error.ends_with("is inside 128 calls, more are not allowed"), "{error}");
}

#[test]
fn closures_keep_the_values_around_them() {
    let results = run(
        "func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
           %f = relay.fn {
           ^bb0(%a: tensor<f32>):
             %0 = relay.sub %a, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
             relay.yield %0 : tensor<f32>
           } : (tensor<f32>) -> tensor<f32>
           %1 = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
           %2 = relay.apply %f(%1) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
           return %2 : tensor<f32>
         }",
        &[f32s(&[], &[10.0]), f32s(&[], &[3.0])],
    );
    assert_eq!(results.unwrap(), [f32s(&[], &[4.0])]);
}

#[test]
fn cells_hold_what_was_written_last() {
    let results = run(
        "func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
           %r = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<f32>>
           %0 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
           relay.ref.write %r, %y : !relay.ref<tensor<f32>>, tensor<f32>
           %1 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
           return %0, %1 : tensor<f32>, tensor<f32>
         }",
        &[f32s(&[], &[1.0]), f32s(&[], &[2.0])],
    );
    assert_eq!(results.unwrap(), [f32s(&[], &[1.0]), f32s(&[], &[2.0])]);
}

#[test]
fn inputs_have_the_parameters_types() {
    let source = "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> { return %x : tensor<?x2xf32> }";
    assert!(run(source, &[f32s(&[3, 2], &[0.0; 6])]).is_ok());
    assert_eq!(
        message(source, &[f32s(&[3, 1], &[0.0; 3])]),
        "@main takes (tensor<?x2xf32>), found (tensor<3x1xf32>)"
    );
}

#[test]
fn an_operator_without_a_value_is_named_with_its_place() {
    let error = message(
        "func.func @main(%x: tensor<i32>) -> tensor<i32> {
           %0 = relay.div %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
           return %0 : tensor<i32>
         }",
        &[Tensor::from_ints(DType::I32, &[], &[0]).unwrap()],
    );
    assert!(error.ends_with(":2:17: 'relay.div' op integer division by zero"), "{error}");
}

#[test]
fn unknown_extents_must_agree_at_run_time() {
    let error = message(
        "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
           %0 = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
           return %0 : tensor<?xf32>
         }",
        &[f32s(&[2], &[0.0; 2]), f32s(&[3], &[0.0; 3])],
    );
    assert!(error.contains("'relay.add' op violates constraint C2"), "{error}");
}

#[test]
fn functions_that_are_not_there_are_named() {
    let context = load_context();
    let module = parse_module(&context, "").unwrap();
    let error = fusion_interpreter::run_function(module.as_operation(), "f", &[]).unwrap_err();
    assert_eq!(error, InterpretError::NoFunction("f".into()));
}
