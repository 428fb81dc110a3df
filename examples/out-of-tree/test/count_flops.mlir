// RUN: example-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize,example-count-flops))' | FileCheck %s

// MLIR merges the sum that is computed twice and drops what is not used; only then is anything counted: 2 * 4 * 8 * 16 for
// the product, 4 * 16 for the sum and as much for the maximum.

// CHECK: func.func @layer
// CHECK-SAME: attributes {example.flops = 1152 : i64}
// CHECK: relay.dense
// CHECK-NEXT: relay.add
// CHECK-NEXT: relay.maximum
// CHECK-NEXT: return
func.func @layer(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = relay.dense %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = relay.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = relay.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %3 = relay.maximum %1, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = relay.exp %3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}
