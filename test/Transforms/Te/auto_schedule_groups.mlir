// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v4 --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// A vector has channels of one group: the weight of all groups is cut into panels of the 24 channels of each, and pixels that are two apart are
// read one by one.
// CHECK-LABEL: te.schedule for @apart
// CHECK:         %[[W:.*]] = te.input 1
// CHECK:         te.transform_layout %[[W]] by
// CHECK:         %[[S:.*]] = te.stage "conv2d
// CHECK:         %[[A:.*]]:7 = te.axes %[[S]]
// CHECK:         %{{.*}}, %[[I:.*]] = te.split %[[A]]#1 by 24
// CHECK:         %{{.*}}, %[[V:.*]] = te.split %[[I]] by 16
// CHECK:         te.vectorize %[[V]]
func.func @main(%x: tensor<1x96x14x14xf32>) -> tensor<1x96x7x7xf32> {
  %w = relay.constant dense<0.5> : tensor<96x24x3x3xf32>
  %0 = call @apart(%x, %w) : (tensor<1x96x14x14xf32>, tensor<96x24x3x3xf32>) -> tensor<1x96x7x7xf32>
  return %0 : tensor<1x96x7x7xf32>
}
func.func @apart(%x: tensor<1x96x14x14xf32>, %w: tensor<96x24x3x3xf32>) -> tensor<1x96x7x7xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {groups = 4 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x96x14x14xf32>, tensor<96x24x3x3xf32>) -> tensor<1x96x7x7xf32>
  return %0 : tensor<1x96x7x7xf32>
}

// -----

// Groups of 4 channels would leave most lanes out: vectors are pixels.
// CHECK-LABEL: te.schedule for @few
// CHECK-NOT:     te.transform_layout
// CHECK:         %[[S:.*]] = te.stage "conv2d
// CHECK:         %[[A:.*]]:7 = te.axes %[[S]]
// CHECK:         te.split %[[A]]#3 by
func.func @main(%x: tensor<1x128x32x32xf32>) -> tensor<1x128x32x32xf32> {
  %w = relay.constant dense<0.5> : tensor<128x4x3x3xf32>
  %0 = call @few(%x, %w) : (tensor<1x128x32x32xf32>, tensor<128x4x3x3xf32>) -> tensor<1x128x32x32xf32>
  return %0 : tensor<1x128x32x32xf32>
}
func.func @few(%x: tensor<1x128x32x32xf32>, %w: tensor<128x4x3x3xf32>) -> tensor<1x128x32x32xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {groups = 32 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x128x32x32xf32>, tensor<128x4x3x3xf32>) -> tensor<1x128x32x32xf32>
  return %0 : tensor<1x128x32x32xf32>
}

// -----

// Vectors at five pixels of a window would be loaded at once beside 22 sums, and have no room in 32 registers: no step is written out.
// CHECK-LABEL: te.schedule for @sliding
// CHECK:         %[[C:.*]] = te.stage "conv2d
// CHECK-NOT:     te.unroll
// CHECK:         te.compute_at %[[C]]
func.func @main(%x: tensor<1x32x64x64xf32>) -> tensor<1x32x64x64xf32> {
  %w = relay.constant dense<0.5> : tensor<32x32x5x5xf32>
  %0 = call @sliding(%x, %w) : (tensor<1x32x64x64xf32>, tensor<32x32x5x5xf32>) -> tensor<1x32x64x64xf32>
  return %0 : tensor<1x32x64x64xf32>
}
func.func @sliding(%x: tensor<1x32x64x64xf32>, %w: tensor<32x32x5x5xf32>) -> tensor<1x32x64x64xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {padding = array<i64: 2, 2, 2, 2>} : (tensor<1x32x64x64xf32>, tensor<32x32x5x5xf32>) -> tensor<1x32x64x64xf32>
  %1 = relay.relu %0 : (tensor<1x32x64x64xf32>) -> tensor<1x32x64x64xf32>
  return %1 : tensor<1x32x64x64xf32>
}

// -----

// Those at three have room.
// CHECK-LABEL: te.schedule for @short
// CHECK:         %[[C:.*]] = te.stage "conv2d
// CHECK:         %[[A:.*]]:7 = te.axes %[[C]]
// CHECK:         te.unroll %[[A]]#6
// CHECK:         te.compute_at %[[C]]
func.func @main(%x: tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32> {
  %w = relay.constant dense<0.5> : tensor<32x32x3x3xf32>
  %0 = call @short(%x, %w) : (tensor<1x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32>
  return %0 : tensor<1x32x32x32xf32>
}
func.func @short(%x: tensor<1x32x32x32xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32>
  %1 = relay.relu %0 : (tensor<1x32x32x32xf32>) -> tensor<1x32x32x32xf32>
  return %1 : tensor<1x32x32x32xf32>
}
