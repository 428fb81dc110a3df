// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-winograd))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @large(
// CHECK:         %[[U:.*]] = relay.constant {{.*}} : tensor<36x64x64xf32>
// CHECK-NOT:     relay.conv2d
// CHECK:         relay.winograd_conv2d %arg0, %[[U]] {padding = array<i64: 1, 1, 1, 1>, tile = 4 : i64} : (tensor<1x64x56x56xf32>, tensor<36x64x64xf32>) -> tensor<1x64x56x56xf32>
func.func @large(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = relay.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// Strides, dilation, groups, other kernels, few channels, and weights that are no constants keep the convolution.
// CHECK-LABEL: func.func @unchanged(
// CHECK-COUNT-6: relay.conv2d
// CHECK-NOT:     relay.winograd_conv2d
// CHECK:         return
func.func @unchanged(%x: tensor<1x64x56x56xf32>, %y: tensor<1x3x56x56xf32>, %v: tensor<64x64x3x3xf32>) {
  %w = relay.constant dense<0.5> : tensor<64x64x3x3xf32>
  %g = relay.constant dense<0.5> : tensor<64x1x3x3xf32>
  %k = relay.constant dense<0.5> : tensor<64x64x5x5xf32>
  %f = relay.constant dense<0.5> : tensor<64x3x3x3xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x27x27xf32>
  %1 = relay.conv2d %x, %w {dilation = array<i64: 2, 2>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x52x52xf32>
  %2 = relay.conv2d %x, %g {groups = 64 : i64} : (tensor<1x64x56x56xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x54x54xf32>
  %3 = relay.conv2d %x, %k : (tensor<1x64x56x56xf32>, tensor<64x64x5x5xf32>) -> tensor<1x64x52x52xf32>
  %4 = relay.conv2d %y, %f : (tensor<1x3x56x56xf32>, tensor<64x3x3x3xf32>) -> tensor<1x64x54x54xf32>
  %5 = relay.conv2d %x, %v : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x54x54xf32>
  return
}
