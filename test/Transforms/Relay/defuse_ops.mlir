// RUN: fusion-opt %s --relay-defuse-ops | FileCheck %s
// RUN: fusion-opt %s --relay-fuse-ops --relay-defuse-ops | FileCheck %s
// RUN: fusion-opt %s --relay-defuse-ops --validate-passes -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS

// NUMBERS: validated: relay-defuse-ops: @main

// The operators of both kernels stand in @main, and the kernels go. A function that is no kernel stays one.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT:     @fused
// CHECK:         %[[C:.*]] = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK:         %[[M:.*]] = relay.mul %arg0, %[[C]]
// CHECK-NEXT:    %[[R:.*]] = relay.relu %[[M]]
// CHECK:         %[[N:.*]] = relay.mul %[[R]]
// CHECK-NEXT:    %[[S:.*]] = relay.relu %[[N]]
// CHECK-NEXT:    %[[E:.*]] = call @other(%[[S]])
// CHECK-NEXT:    return %[[E]]
// CHECK:       func.func private @other
// CHECK-NOT:   func.func
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @fused_mul_relu_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @fused_mul_relu_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @other(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @fused_mul_relu_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %two = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.mul %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
