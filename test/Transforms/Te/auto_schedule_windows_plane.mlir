// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v3 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// A plane of padded data at a time, tiles of seven rows, windows written out.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK:         %[[PAD:.*]] = te.stage "pad"
// CHECK:         %[[CONV:.*]] = te.stage "conv2d
// CHECK:         %[[A:.*]]:7 = te.axes %[[CONV]]
// CHECK:         %[[YO:.*]], %[[YI:.*]] = te.split %[[A]]#2 by 7
// CHECK:         te.unroll %[[YI]]
// CHECK:         %[[XO:.*]], %[[XI:.*]] = te.split %[[A]]#3 by 8
// CHECK:         te.vectorize %[[XI]]
// CHECK:         te.reorder %[[A]]#0, %[[A]]#1, %[[YO]], %[[XO]], %[[YI]], %[[XI]]
// CHECK:         te.unroll %[[A]]#6
// CHECK:         te.unroll %[[A]]#5
// CHECK:         te.compute_at %[[PAD]], %[[A]]#1
func.func @main(%x: tensor<1x32x28x28xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32>
  return %0 : tensor<1x32x28x28xf32>
}

// -----

// Vectors of seven have no mask.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK-NOT:     te.annotate
func.func @main(%x: tensor<1x32x7x7xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x7x7xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x7x7xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x7x7xf32>
  return %0 : tensor<1x32x7x7xf32>
}
