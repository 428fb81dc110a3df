// RUN: fusion-opt %s --te-schedule --te-lower | FileCheck %s

// A sum keeps its order and the roundings of its products: one thread, no lanes of its own, no flags.
// CHECK-LABEL: func.func private @product(
// CHECK:         loop.for 64 serial
// CHECK:           arith.mulf %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : f32
// CHECK:           arith.addf {{.*}} : f32
// CHECK-NOT:     reassoc
// CHECK-NOT:     contract
module attributes {fusion.fp_math = "strict"} {
  te.kernel @product(%x: tensor<64xf32>, %w: tensor<64xf32>) -> tensor<f32> {
    %0 = te.compute "product" axes [] reduce [64] init [0.0 : f32] {
    ^bb0(%k: index):
      %a = te.load %x[%k] : tensor<64xf32> -> f32
      %b = te.load %w[%k] : tensor<64xf32> -> f32
      %c = arith.mulf %a, %b : f32
      te.yield %c : f32
    } combine {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      te.yield %c : f32
    } : tensor<f32>
    te.return %0 : tensor<f32>
  }
}
