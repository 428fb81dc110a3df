// RUN: fusion-opt %s --fusion-attach-target=name=x86-64-v4 --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Of windows of 7 x 7 on 7 rows, 12 of 49 rows lie in the padding: the loop over them passes over these, that over columns, which a tile has all of,
// over none.
// CHECK-LABEL: te.schedule for @rows
// CHECK:         %[[C:.*]] = te.stage "conv2d
// CHECK:         %[[A:.*]]:7 = te.axes %[[C]]
// CHECK-NEXT:    te.skip_padding %[[A]]#5
// CHECK-NOT:     te.skip_padding
func.func @main(%x: tensor<1x48x7x28xf32>) -> tensor<1x64x7x28xf32> {
  %w = relay.constant dense<0.5> : tensor<64x48x7x7xf32>
  %0 = call @rows(%x, %w) : (tensor<1x48x7x28xf32>, tensor<64x48x7x7xf32>) -> tensor<1x64x7x28xf32>
  return %0 : tensor<1x64x7x28xf32>
}
func.func @rows(%x: tensor<1x48x7x28xf32>, %w: tensor<64x48x7x7xf32>) -> tensor<1x64x7x28xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {padding = array<i64: 3, 3, 3, 3>} : (tensor<1x48x7x28xf32>, tensor<64x48x7x7xf32>) -> tensor<1x64x7x28xf32>
  %1 = relay.relu %0 : (tensor<1x64x7x28xf32>) -> tensor<1x64x7x28xf32>
  return %1 : tensor<1x64x7x28xf32>
}

// -----

// Pixels of windows of 7 x 1 could be one loop, whose tiles go across rows; rows of their own pass over a tenth of the steps.
// CHECK-LABEL: te.schedule for @apart
// CHECK:         te.stage "relu
// CHECK-NOT:     te.fuse
// CHECK:         te.skip_padding
func.func @main(%x: tensor<1x128x17x17xf32>) -> tensor<1x128x17x17xf32> {
  %w = relay.constant dense<0.5> : tensor<128x128x7x1xf32>
  %0 = call @apart(%x, %w) : (tensor<1x128x17x17xf32>, tensor<128x128x7x1xf32>) -> tensor<1x128x17x17xf32>
  return %0 : tensor<1x128x17x17xf32>
}
func.func @apart(%x: tensor<1x128x17x17xf32>, %w: tensor<128x128x7x1xf32>) -> tensor<1x128x17x17xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {padding = array<i64: 3, 0, 3, 0>} : (tensor<1x128x17x17xf32>, tensor<128x128x7x1xf32>) -> tensor<1x128x17x17xf32>
  %1 = relay.relu %0 : (tensor<1x128x17x17xf32>) -> tensor<1x128x17x17xf32>
  return %1 : tensor<1x128x17x17xf32>
}

// -----

// Two of 114 rows of an image lie in the padding of few steps: nothing is asked.
// CHECK-LABEL: te.schedule for @large
// CHECK-NOT:     te.skip_padding
func.func @main(%x: tensor<1x16x224x224xf32>) -> tensor<1x16x112x112xf32> {
  %w = relay.constant dense<0.5> : tensor<16x16x3x1xf32>
  %0 = call @large(%x, %w) : (tensor<1x16x224x224xf32>, tensor<16x16x3x1xf32>) -> tensor<1x16x112x112xf32>
  return %0 : tensor<1x16x112x112xf32>
}
func.func @large(%x: tensor<1x16x224x224xf32>, %w: tensor<16x16x3x1xf32>) -> tensor<1x16x112x112xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 2>} : (tensor<1x16x224x224xf32>, tensor<16x16x3x1xf32>) -> tensor<1x16x112x112xf32>
  return %0 : tensor<1x16x112x112xf32>
}
