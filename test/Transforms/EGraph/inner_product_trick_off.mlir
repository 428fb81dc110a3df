// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver5},relay-optimize)' | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver5},relay-optimize{off=inner-product-trick})' | FileCheck %s --check-prefix=OFF

// Whether an attention's products are by the inner-product trick is its definition's choice, which asks the target: without the family that says that no additions
// begin beside multiply-adds.
// CHECK: additions = 2 : i64
// OFF:   additions = 0 : i64
func.func @main(%q: tensor<8x512x64xf32>, %k: tensor<8x512x64xf32>, %v: tensor<8x512x64xf32>) -> tensor<8x512x64xf32> {
  %0 = relay.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x512x64xf32>, tensor<8x512x64xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  return %0 : tensor<8x512x64xf32>
}
