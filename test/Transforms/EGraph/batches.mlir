// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{off=siblings})' --split-input-file | FileCheck %s --check-prefix=OFF

// Small products of pieces of the same two tensors are one product of a batch: the stacks are transposes of the tensors.
// CHECK-LABEL: func.func @heads
// CHECK-NOT:     slice
// CHECK-NOT:     concat
// CHECK-COUNT-1: call @fused_matmul{{.*}} -> tensor<4x4x4xf32>
// CHECK-NOT:     call @fused_matmul
// CHECK:         return
// OFF-LABEL: func.func @heads
// OFF-COUNT-4:   call @fused_matmul
func.func @heads(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x16xf32> {
  %x0 = relay.slice %x {begin = array<i64: 0>, end = array<i64: 8>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %x1 = relay.slice %x {begin = array<i64: 8>, end = array<i64: 16>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %x2 = relay.slice %x {begin = array<i64: 16>, end = array<i64: 24>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %x3 = relay.slice %x {begin = array<i64: 24>, end = array<i64: 32>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %y0 = relay.slice %y {begin = array<i64: 0>, end = array<i64: 8>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %y1 = relay.slice %y {begin = array<i64: 8>, end = array<i64: 16>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %y2 = relay.slice %y {begin = array<i64: 16>, end = array<i64: 24>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %y3 = relay.slice %y {begin = array<i64: 24>, end = array<i64: 32>, axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %0 = relay.matmul %x0, %y0 {transpose_b = true} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = relay.matmul %x1, %y1 {transpose_b = true} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %2 = relay.matmul %x2, %y2 {transpose_b = true} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %3 = relay.matmul %x3, %y3 {transpose_b = true} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %c = relay.concat %0, %1, %2, %3 {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

// The groups of a convolution that were written out are groups again.
// CHECK-LABEL: func.func @groups
// CHECK-NOT:     slice
// CHECK:         call @fused_conv2d{{.*}} -> tensor<1x64x28x28xf32>
// CHECK-NEXT:    return
// CHECK:         groups = 4
// OFF-LABEL: func.func @groups
// OFF-COUNT-4:   call @fused_conv2d
func.func @groups(%x: tensor<1x64x28x28xf32>, %w0: tensor<16x16x3x3xf32>, %w1: tensor<16x16x3x3xf32>, %w2: tensor<16x16x3x3xf32>, %w3: tensor<16x16x3x3xf32>) -> tensor<1x64x28x28xf32> {
  %x0 = relay.slice %x {begin = array<i64: 0>, end = array<i64: 16>, axes = array<i64: 1>} : (tensor<1x64x28x28xf32>) -> tensor<1x16x28x28xf32>
  %x1 = relay.slice %x {begin = array<i64: 16>, end = array<i64: 32>, axes = array<i64: 1>} : (tensor<1x64x28x28xf32>) -> tensor<1x16x28x28xf32>
  %x2 = relay.slice %x {begin = array<i64: 32>, end = array<i64: 48>, axes = array<i64: 1>} : (tensor<1x64x28x28xf32>) -> tensor<1x16x28x28xf32>
  %x3 = relay.slice %x {begin = array<i64: 48>, end = array<i64: 64>, axes = array<i64: 1>} : (tensor<1x64x28x28xf32>) -> tensor<1x16x28x28xf32>
  %y0 = relay.conv2d %x0, %w0 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x28x28xf32>
  %y1 = relay.conv2d %x1, %w1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x28x28xf32>
  %y2 = relay.conv2d %x2, %w2 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x28x28xf32>
  %y3 = relay.conv2d %x3, %w3 {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x28x28xf32>
  %c = relay.concat %y0, %y1, %y2, %y3 {axis = 1 : i64} : (tensor<1x16x28x28xf32>, tensor<1x16x28x28xf32>, tensor<1x16x28x28xf32>, tensor<1x16x28x28xf32>) -> tensor<1x64x28x28xf32>
  return %c : tensor<1x64x28x28xf32>
}

// -----

// Products of which one needs the other stay two, and so do large ones whose operands lie apart.
// CHECK-LABEL: func.func @one_after_another
// CHECK-COUNT-2: call @fused_matmul
func.func @one_after_another(%x: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relay.matmul %x, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @large
// CHECK-COUNT-2: call @fused_matmul
// CHECK-NOT:     concat
func.func @large(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>, %v: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %0 = relay.matmul %x, %v : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = relay.matmul %y, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0, %1 : tensor<256x256xf32>, tensor<256x256xf32>
}
