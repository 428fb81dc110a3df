// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --split-input-file | FileCheck %s --check-prefix=GPU

// A product whose columns are heads, each given apart, is one kernel. On a GPU, whose tiles are stored by rows, it is two.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    call @fused_matmul_reshape_transpose_0(%arg0, %arg1)
// CHECK-NEXT:    return
// GPU-LABEL:   func.func @heads
// GPU:           call @fused_matmul_0(
// GPU:           call @fused_{{(reshape_)?}}transpose_0(
func.func @heads(%x: tensor<256x128xf32>, %w: tensor<128x96xf32>) -> tensor<4x3x64x32xf32> {
  %0 = relay.matmul %x, %w : (tensor<256x128xf32>, tensor<128x96xf32>) -> tensor<256x96xf32>
  %1 = relay.reshape %0 {shape = array<i64: 4, 64, 3, 32>} : (tensor<256x96xf32>) -> tensor<4x64x3x32xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1, 3>} : (tensor<4x64x3x32xf32>) -> tensor<4x3x64x32xf32>
  return %2 : tensor<4x3x64x32xf32>
}

// -----

// With a bias before, and a tensor that is added behind.
// CHECK-LABEL: func.func @between
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:         return
func.func @between(%x: tensor<256x128xf32>, %w: tensor<128x96xf32>, %b: tensor<96xf32>, %r: tensor<4x3x64x32xf32>) -> tensor<4x3x64x32xf32> {
  %0 = relay.matmul %x, %w : (tensor<256x128xf32>, tensor<128x96xf32>) -> tensor<256x96xf32>
  %1 = relay.add %0, %b : (tensor<256x96xf32>, tensor<96xf32>) -> tensor<256x96xf32>
  %2 = relay.reshape %1 {shape = array<i64: 4, 64, 3, 32>} : (tensor<256x96xf32>) -> tensor<4x64x3x32xf32>
  %3 = relay.transpose %2 {axes = array<i64: 0, 2, 1, 3>} : (tensor<4x64x3x32xf32>) -> tensor<4x3x64x32xf32>
  %4 = relay.add %3, %r : (tensor<4x3x64x32xf32>, tensor<4x3x64x32xf32>) -> tensor<4x3x64x32xf32>
  return %4 : tensor<4x3x64x32xf32>
}

// -----

// Columns that become rows: vectors go along the rows of the product, of which whole ones lie side by side.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT:    call @fused_matmul_mul_transpose_0(%arg0, %arg1, %arg2)
// CHECK-NEXT:    return
// GPU-LABEL:   func.func @columns
// GPU:           call @fused_matmul_0(
func.func @columns(%x: tensor<64x64x128xf32>, %w: tensor<128x128xf32>, %g: tensor<64x64x128xf32>) -> tensor<128x64x64xf32> {
  %0 = relay.matmul %x, %w : (tensor<64x64x128xf32>, tensor<128x128xf32>) -> tensor<64x64x128xf32>
  %1 = relay.mul %0, %g : (tensor<64x64x128xf32>, tensor<64x64x128xf32>) -> tensor<64x64x128xf32>
  %2 = relay.transpose %1 {axes = array<i64: 2, 0, 1>} : (tensor<64x64x128xf32>) -> tensor<128x64x64xf32>
  return %2 : tensor<128x64x64xf32>
}

// -----

// Of several products the same element each lies side by side, and no vector goes along these: they are stored.
// CHECK-LABEL: func.func @products
// CHECK:         call @fused_batch_matmul_0(
// CHECK:         call @fused_transpose_0(
// CHECK:         return
func.func @products(%x: tensor<16x64x128xf32>, %w: tensor<16x128x96xf32>) -> tensor<96x64x16xf32> {
  %0 = relay.batch_matmul %x, %w : (tensor<16x64x128xf32>, tensor<16x128x96xf32>) -> tensor<16x64x96xf32>
  %1 = relay.transpose %0 {axes = array<i64: 2, 1, 0>} : (tensor<16x64x96xf32>) -> tensor<96x64x16xf32>
  return %1 : tensor<96x64x16xf32>
}

// -----

// Heads of eight columns are half a vector: the product is stored.
// CHECK-LABEL: func.func @narrow
// CHECK:         call @fused_matmul_0(
// CHECK:         call @{{.*}}transpose
// CHECK:         return
func.func @narrow(%x: tensor<256x128xf32>, %w: tensor<128x96xf32>) -> (tensor<4x12x64x8xf32>) {
  %0 = relay.matmul %x, %w : (tensor<256x128xf32>, tensor<128x96xf32>) -> tensor<256x96xf32>
  %1 = relay.reshape %0 {shape = array<i64: 4, 64, 12, 8>} : (tensor<256x96xf32>) -> tensor<4x64x12x8xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1, 3>} : (tensor<4x64x12x8xf32>) -> tensor<4x12x64x8xf32>
  return %2 : tensor<4x12x64x8xf32>
}

// -----

// Who reads the product as it is as well finds it stored, and it is not computed twice.
// CHECK-LABEL: func.func @twice
// CHECK:         call @fused_matmul_0(
// CHECK:         call @{{.*}}transpose
// CHECK:         return
func.func @twice(%x: tensor<256x128xf32>, %w: tensor<128x96xf32>) -> (tensor<4x3x64x32xf32>, tensor<256x96xf32>) {
  %0 = relay.matmul %x, %w : (tensor<256x128xf32>, tensor<128x96xf32>) -> tensor<256x96xf32>
  %1 = relay.reshape %0 {shape = array<i64: 4, 64, 3, 32>} : (tensor<256x96xf32>) -> tensor<4x64x3x32xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1, 3>} : (tensor<4x64x3x32xf32>) -> tensor<4x3x64x32xf32>
  return %2, %0 : tensor<4x3x64x32xf32>, tensor<256x96xf32>
}
