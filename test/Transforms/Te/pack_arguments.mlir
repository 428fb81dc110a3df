// RUN: fusion-opt %s --te-pack-arguments --split-input-file | FileCheck %s

// Panels of two columns, the last filled up with a zero; two calls share what they read.
// CHECK-LABEL: func.func @main
// CHECK:         %[[P:.*]] = te.constant dense{{.*}} : tensor<2x2x2xf32>
// CHECK-NOT:     tensor<2x2x2xf32> :
// CHECK:         te.call @k(%{{.*}}, %[[P]])
// CHECK:         te.call @k(%{{.*}}, %[[P]])
// CHECK-LABEL: te.kernel @k(%arg0: tensor<2xf32>, %arg1: tensor<2x2x2xf32>) -> tensor<3xf32> {
// CHECK:       ^bb0(%[[J:.*]]: index, %[[R:.*]]: index):
// CHECK:         %[[Q:.*]] = arith.divui %[[J]]
// CHECK:         %[[M:.*]] = arith.remui %[[J]]
// CHECK:         te.load %arg1[%[[Q]], %[[R]], %[[M]]] : tensor<2x2x2xf32> -> f32
// CHECK:       te.schedule for @k
// CHECK-NOT:     te.transform_layout
// CHECK:       }
func.func @main(%x: tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %w = te.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> : tensor<2x3xf32>
  %0 = te.call @k(%x, %w) : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  %1 = te.call @k(%x, %w) : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
te.kernel @k(%x: tensor<2xf32>, %w: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = te.compute "y" axes [3] reduce [2] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %a = te.load %x[%k] : tensor<2xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<2x3xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<3xf32>
  te.return %0 : tensor<3xf32>
}
te.schedule for @k {
  %w = te.input 1
  te.transform_layout %w by affine_map<(k, j) -> (j floordiv 2, k, j mod 2)>
}

// -----

// Layouts of stages are no business of the callers.
// CHECK-LABEL: func.func @main
// CHECK:         te.call @k(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:       te.schedule for @k
// CHECK:         te.transform_layout
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = te.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = te.compute "y" axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  te.transform_layout %s by affine_map<(i) -> (i)>
}
