// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @convolution
// CHECK-NEXT:    relay.conv2d %arg0, %arg1 {groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
// CHECK-NEXT:    relay.conv2d_transpose %arg0, %arg2 {output_padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x18x18xf32>
func.func @convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>, %v: tensor<4x3x3x3xf32>) {
  %0 = relay.conv2d %x, %w {groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
  %1 = relay.conv2d_transpose %x, %v {output_padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x18x18xf32>
  return
}

// CHECK-LABEL: func.func @winograd
// CHECK-NEXT:    relay.winograd_conv2d %arg0, %arg1 {padding = array<i64: 1, 1, 1, 1>, tile = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<16x4x6xf32>) -> tensor<1x6x8x8xf32>
func.func @winograd(%x: tensor<1x4x8x8xf32>, %u: tensor<16x4x6xf32>) {
  %0 = relay.winograd_conv2d %x, %u {tile = 2 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>, tensor<16x4x6xf32>) -> tensor<1x6x8x8xf32>
  return
}

// CHECK-LABEL: func.func @columns
// CHECK-NEXT:    relay.col2im %arg0 {kernel = array<i64: 2, 3>, padding = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x12x8x8xf32>) -> tensor<1x2x15x17xf32>
func.func @columns(%x: tensor<1x12x8x8xf32>) {
  %0 = relay.col2im %x {kernel = array<i64: 2, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 0, 0, 0>} : (tensor<1x12x8x8xf32>) -> tensor<1x2x15x17xf32>
  return
}
