// RUN: example-opt %s --pass-pipeline='builtin.module(inline,symbol-dce,func.func(cse,example-count-flops))' | FileCheck %s

// The layer is inlined into @model and dropped, the sum that is computed twice is merged, and only then is anything
// counted: 2 * 4 * 8 * 16 for the product, 4 * 16 for the sum and as much for the rectifier.

// CHECK-NOT: @layer
// CHECK: func.func @model
// CHECK-SAME: attributes {example.flops = 1152 : i64}
// CHECK: relay.add
// CHECK-NOT: relay.add
func.func @model(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = call @layer(%x, %w, %b) : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

func.func private @layer(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = relay.dense %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = relay.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = relay.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %3 = relay.maximum %1, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}
