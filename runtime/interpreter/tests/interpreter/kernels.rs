//! te kernels.

use super::*;

#[test]
fn a_reduction_combines_its_points() {
    let results = run(
        "te.kernel @product(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
           %0 = te.compute axes [2, 2] reduce [3] init [0.0 : f32] {
           ^bb0(%i: index, %j: index, %k: index):
             %1 = te.load %a[%i, %k] : tensor<2x3xf32> -> f32
             %2 = te.load %b[%k, %j] : tensor<3x2xf32> -> f32
             %3 = arith.mulf %1, %2 : f32
             te.yield %3 : f32
           } combine {
           ^bb0(%s: f32, %n: f32):
             %1 = arith.addf %s, %n : f32
             te.yield %1 : f32
           } : tensor<2x2xf32>
           te.return %0 : tensor<2x2xf32>
         }
         func.func @main(%a: tensor<2x3xf32>, %b: tensor<6xf32>) -> tensor<4xf32> {
           %0 = te.view %b : tensor<6xf32> -> tensor<3x2xf32>
           %1 = te.call @product(%a, %0) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
           %2 = te.view %1 : tensor<2x2xf32> -> tensor<4xf32>
           return %2 : tensor<4xf32>
         }",
        &[f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), f32s(&[6], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0])],
    );
    assert_eq!(results.unwrap(), [f32s(&[4], &[4.0, 5.0, 10.0, 11.0])]);
}

/// A kernel of one tensor and one scalar expression of its element `%x`.
fn pointwise(from: &str, to: &str, scalar: [&str; 2], body: &str) -> String {
    let [scalar_from, scalar_to] = scalar;
    format!(
        "te.kernel @k(%a: tensor<4x{from}>) -> tensor<4x{to}> {{
           %0 = te.compute axes [4] reduce [] init [] {{
           ^bb0(%i: index):
             %x = te.load %a[%i] : tensor<4x{from}> -> {scalar_from}
             {body}
             te.yield %y : {scalar_to}
           }} combine {{}} : tensor<4x{to}>
           te.return %0 : tensor<4x{to}>
         }}
         func.func @main(%a: tensor<4x{from}>) -> tensor<4x{to}> {{
           %0 = te.call @k(%a) : (tensor<4x{from}>) -> tensor<4x{to}>
           return %0 : tensor<4x{to}>
         }}"
    )
}

fn ints(dtype: DType, values: [i128; 4]) -> Tensor {
    Tensor::from_ints(dtype, &[4], &values).unwrap()
}

#[test]
fn integers_wrap_and_have_the_sign_of_their_operation() {
    for (op, expected) in [
        ("%y = arith.addi %x, %x : i8", [0, 2, -2, -2]),
        ("%c = arith.constant 1 : i8\n%y = arith.shrui %x, %c : i8", [64, 0, 127, 63]),
        ("%c = arith.constant 1 : i8\n%y = arith.shrsi %x, %c : i8", [-64, 0, -1, 63]),
        ("%c = arith.constant -2 : i8\n%y = arith.floordivsi %x, %c : i8", [64, -1, 0, -64]),
        ("%c = arith.constant 2 : i8\n%y = arith.maxui %x, %c : i8", [-128, 2, -1, 127]),
    ] {
        let source = pointwise("i8", "i8", ["i8", "i8"], op);
        let found = run(&source, &[ints(DType::I8, [-128, 1, -1, 127])]).unwrap();
        assert_eq!(found, [ints(DType::I8, expected)], "{op}");
    }
}

#[test]
fn unsigned_tensors_are_loaded_without_sign() {
    let source = pointwise("ui8", "f32", ["i8", "f32"], "%y = arith.uitofp %x : i8 to f32");
    let found = run(&source, &[ints(DType::U8, [0, 1, 128, 255])]).unwrap();
    assert_eq!(found, [f32s(&[4], &[0.0, 1.0, 128.0, 255.0])]);
}

#[test]
fn floats_compare_with_and_without_order() {
    let x = f32s(&[4], &[f64::NAN, -1.0, 0.0, 1.0]);
    for (predicate, expected) in
        [("olt", [0, 1, 0, 0]), ("ult", [1, 1, 0, 0]), ("une", [1, 1, 0, 1]), ("ord", [0, 1, 1, 1])]
    {
        let body = format!("%c = arith.constant 0.0 : f32\n%y = arith.cmpf {predicate}, %x, %c : f32");
        let source = pointwise("f32", "i1", ["f32", "i1"], &body);
        let found = run(&source, std::slice::from_ref(&x)).unwrap();
        assert_eq!(found, [ints(DType::Bool, expected)], "{predicate}");
    }
}

#[test]
fn conversions_to_integers_saturate() {
    let source = pointwise("f32", "i8", ["f32", "i8"], "%y = arith.fptosi %x : f32 to i8");
    let found = run(&source, &[f32s(&[4], &[1000.0, -1.9, f64::NAN, f64::NEG_INFINITY])]).unwrap();
    assert_eq!(found, [ints(DType::I8, [127, -1, 0, -128])]);
}

#[test]
fn loads_beyond_a_tensor_are_errors() {
    let source = pointwise(
        "f32",
        "f32",
        ["f32", "f32"],
        "%j = arith.addi %i, %i : index\n%y = te.load %a[%j] : tensor<4xf32> -> f32",
    );
    let error = message(&source, &[f32s(&[4], &[0.0; 4])]);
    assert!(error.ends_with("'te.load' op loads element 4 on axis 0 of tensor<4xf32>"), "{error}");
}

#[test]
fn an_element_may_run_a_loop() {
    let results = run(
        "te.kernel @powers(%a: tensor<3xf32>, %b: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
           %0:2 = te.compute \"loop\" axes [3] reduce [] init [] {
           ^bb0(%i: index):
             %x = te.load %a[%i] : tensor<3xf32> -> f32
             %y = te.load %b[] : tensor<f32> -> f32
             %r:2 = loop.for 3 serial iter(%x, %y : f32, f32) {
             ^bb0(%step: index, %p: f32, %q: f32):
               %m = arith.mulf %p, %x : f32
               %s = arith.addf %q, %y : f32
               loop.yield %m, %s : f32, f32
             } -> f32, f32
             te.yield %r#0, %r#1 : f32, f32
           } combine {
           } : tensor<3xf32>, tensor<3xf32>
           te.return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
         }
         func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
           %0:2 = te.call @powers(%a, %b) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
           return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
         }",
        &[f32s(&[3], &[1.0, 2.0, -3.0]), f32s(&[], &[5.0])],
    );
    assert_eq!(results.unwrap(), [f32s(&[3], &[1.0, 16.0, 81.0]), f32s(&[3], &[20.0, 20.0, 20.0])]);
}
