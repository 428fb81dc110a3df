// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v4 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Tiles of seven rows, windows written out, which read the data itself under masks; twelve elements that are left are a vector of sixteen.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK:         %[[PAD:.*]] = te.stage "pad"
// CHECK-NEXT:    te.compute_inline %[[PAD]]
// CHECK:         %[[CONV:.*]] = te.stage "conv2d
// CHECK:         %[[A:.*]]:7 = te.axes %[[CONV]]
// CHECK:         %[[YO:.*]], %[[YI:.*]] = te.split %[[A]]#2 by 7
// CHECK:         te.unroll %[[YI]]
// CHECK:         %[[XO:.*]], %[[XI:.*]] = te.split %[[A]]#3 by 16
// CHECK:         te.vectorize %[[XI]]
// CHECK-NEXT:    te.annotate %[[XI]] "masked_tail" = 1
// CHECK:         te.reorder %[[A]]#0, %[[A]]#1, %[[YO]], %[[XO]], %[[YI]], %[[XI]]
// CHECK:         te.unroll %[[A]]#6
// CHECK:         te.unroll %[[A]]#5
// CHECK-NOT:     te.compute_at
func.func @main(%x: tensor<1x32x28x28xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32>
  return %0 : tensor<1x32x28x28xf32>
}

// -----

// Pooling is of that kind, also with steps of two.
// CHECK-LABEL: te.schedule for @fused_max_pool2d
// CHECK:         te.compute_inline
// CHECK:         te.split %{{.*}} by 8
// CHECK-NOT:     te.compute_at
func.func @main(%x: tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32> {
  %0 = relay.max_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// A sum over channels is a contraction: its data is padded once for all filters.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK-NOT:     te.compute_at %{{.*}}, %{{.*}}#1
func.func @main(%x: tensor<1x32x28x28xf32>, %w: tensor<48x32x5x5xf32>) -> tensor<1x48x28x28xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 2, 2, 2, 2>} : (tensor<1x32x28x28xf32>, tensor<48x32x5x5xf32>) -> tensor<1x48x28x28xf32>
  return %0 : tensor<1x48x28x28xf32>
}

// -----

// Nor is a sum over the channels of a group: the filters of a group are an axis of their own, whose rows share data.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK:         %[[A:.*]]:7 = te.axes
// CHECK:         %[[G:.*]], %[[I:.*]] = te.split %[[A]]#1 by 16
// CHECK:         %{{.*}}, %[[R:.*]] = te.split %[[I]] by {{[0-9]+}}
// CHECK:         te.unroll %[[R]]
// CHECK:         te.reorder %[[G]],
func.func @main(%x: tensor<1x64x28x28xf32>, %w: tensor<64x16x3x3xf32>) -> tensor<1x64x28x28xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 4 : i64} : (tensor<1x64x28x28xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %0 : tensor<1x64x28x28xf32>
}

// -----

// Of large windows there is code for one row; the rows of a tile stay, as there have to be several chains of additions.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK:         %[[A:.*]]:7 = te.axes
// CHECK:         te.split %[[A]]#2 by 7
// CHECK:         te.unroll %[[A]]#6
// CHECK-NOT:     te.unroll %[[A]]#5
// CHECK:         te.compute_at
func.func @main(%x: tensor<1x32x28x28xf32>, %w: tensor<32x1x7x7xf32>) -> tensor<1x32x28x28xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 3, 3, 3, 3>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x7x7xf32>) -> tensor<1x32x28x28xf32>
  return %0 : tensor<1x32x28x28xf32>
}
