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

// Heads of eight columns are half a vector, and columns that become rows none at all: the product is stored.
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
