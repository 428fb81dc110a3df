// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// The pixels of a phase of a transposed convolution are few along an axis: tiles are of two, and the kernel is
// written out, so that the loop is over channels. Results, which lie by phases, are put in order by vectors of channels.
// CHECK-LABEL: te.schedule for @two_axes
// CHECK:         %[[SUM:.*]] = te.stage "conv2d_transpose
// CHECK:         %[[A:.*]]:9 = te.axes %[[SUM]]
// CHECK:         %[[FO:.*]], %[[FI:.*]] = te.split %[[A]]#5 by 16
// CHECK:         %[[YO:.*]], %[[YI:.*]] = te.split %[[A]]#1 by 2
// CHECK:         te.unroll %[[YI]]
// CHECK:         te.unroll %[[A]]#2
// CHECK:         te.vectorize %[[FI]]
// CHECK:         te.reorder %[[A]]#3, %[[A]]#4, %[[FO]], %[[A]]#0, %[[YO]], %[[A]]#2, %[[YI]], %[[FI]], %[[A]]#6, %[[A]]#7, %[[A]]#8
// CHECK:         te.unroll %[[A]]#8
// CHECK:         te.unroll %[[A]]#7
// CHECK:         %[[RELU:.*]] = te.stage "relu
// CHECK:         %[[B:.*]]:4 = te.axes %[[RELU]]
// CHECK:         %[[O:.*]], %[[I:.*]] = te.split %[[B]]#1 by 16
// CHECK:         te.unroll %[[B]]#3
// CHECK:         te.vectorize %[[I]]
func.func @main(%x: tensor<1x256x8x8xf32>) -> tensor<1x128x16x16xf32> {
  %w = relay.constant dense<1.0> : tensor<256x128x4x4xf32>
  %0 = call @two_axes(%x, %w) : (tensor<1x256x8x8xf32>, tensor<256x128x4x4xf32>) -> tensor<1x128x16x16xf32>
  return %0 : tensor<1x128x16x16xf32>
}
func.func @two_axes(%x: tensor<1x256x8x8xf32>, %w: tensor<256x128x4x4xf32>) -> tensor<1x128x16x16xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x256x8x8xf32>, tensor<256x128x4x4xf32>) -> tensor<1x128x16x16xf32>
  %1 = relay.relu %0 : (tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32>
  return %1 : tensor<1x128x16x16xf32>
}

// -----

// A sum whose epilogue is computed with it has no steps of the kernel to write out, and rows along one axis.
// CHECK-LABEL: te.schedule for @one_axis
// CHECK:         te.split
// CHECK:         te.reorder
// CHECK-NOT:     te.unroll
// CHECK:         te.compute_at
func.func @main(%x: tensor<1x64x8x64xf32>) -> tensor<1x128x8x64xf32> {
  %w = relay.constant dense<1.0> : tensor<128x64x1x1xf32>
  %0 = call @one_axis(%x, %w) : (tensor<1x64x8x64xf32>, tensor<128x64x1x1xf32>) -> tensor<1x128x8x64xf32>
  return %0 : tensor<1x128x8x64xf32>
}
func.func @one_axis(%x: tensor<1x64x8x64xf32>, %w: tensor<128x64x1x1xf32>) -> tensor<1x128x8x64xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {} : (tensor<1x64x8x64xf32>, tensor<128x64x1x1xf32>) -> tensor<1x128x8x64xf32>
  %1 = relay.relu %0 : (tensor<1x128x8x64xf32>) -> tensor<1x128x8x64xf32>
  return %1 : tensor<1x128x8x64xf32>
}
