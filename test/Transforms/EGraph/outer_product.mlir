// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{off=contraction})' --split-input-file | FileCheck %s --check-prefix=OFF

// The outer products of all pairs, and their weights, are summed in the order that takes less: nothing as large as all pairs is moved.
// CHECK-LABEL: func.func @mean_of_outer_products
// CHECK:         call @fused_matmul{{.*}} -> tensor<1024x4096xf32>
// CHECK:         call @fused_matmul{{.*}} -> tensor<64x64x128xf32>
// CHECK-NOT:     tensor<2048x2048xf32>
// OFF-LABEL: func.func @mean_of_outer_products
// OFF:         tensor<2048x2048xf32>
func.func @mean_of_outer_products(%x: tensor<16x2048xf32>, %w: tensor<1024x128xf32>) -> tensor<4096x128xf32> {
  %c = relay.constant dense<0.0625> : tensor<f32>
  %t = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<16x2048xf32>) -> tensor<2048x16xf32>
  %m = relay.matmul %t, %x : (tensor<2048x16xf32>, tensor<16x2048xf32>) -> tensor<2048x2048xf32>
  %s = relay.mul %m, %c : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048x2048xf32>
  %a = relay.reshape %s {shape = array<i64: 64, 32, 64, 32>} : (tensor<2048x2048xf32>) -> tensor<64x32x64x32xf32>
  %b = relay.transpose %a {axes = array<i64: 0, 2, 1, 3>} : (tensor<64x32x64x32xf32>) -> tensor<64x64x32x32xf32>
  %d = relay.reshape %b {shape = array<i64: 4096, 1024>} : (tensor<64x64x32x32xf32>) -> tensor<4096x1024xf32>
  %o = relay.matmul %d, %w : (tensor<4096x1024xf32>, tensor<1024x128xf32>) -> tensor<4096x128xf32>
  return %o : tensor<4096x128xf32>
}

// -----

// With many sequences and few numbers a residue, all pairs are the smaller way.
// CHECK-LABEL: func.func @many_sequences
// CHECK:         tensor<64x64xf32>
// CHECK-NOT:     tensor<16x1024x8xf32>
func.func @many_sequences(%x: tensor<256x64xf32>, %w: tensor<16x8xf32>) -> tensor<256x8xf32> {
  %m = relay.matmul %x, %x {transpose_a = true} : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %a = relay.reshape %m {shape = array<i64: 16, 4, 16, 4>} : (tensor<64x64xf32>) -> tensor<16x4x16x4xf32>
  %b = relay.transpose %a {axes = array<i64: 0, 2, 1, 3>} : (tensor<16x4x16x4xf32>) -> tensor<16x16x4x4xf32>
  %d = relay.reshape %b {shape = array<i64: 256, 16>} : (tensor<16x16x4x4xf32>) -> tensor<256x16xf32>
  %o = relay.matmul %d, %w : (tensor<256x16xf32>, tensor<16x8xf32>) -> tensor<256x8xf32>
  return %o : tensor<256x8xf32>
}
