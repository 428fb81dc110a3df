// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// The weights of each phase of a transposed convolution are neighbours: every second element of the kernel.
// CHECK:       #[[PHASES:.*]] = affine_map<(d0, d1, d2, d3) -> (d2 mod 2, d3 mod 2, d1 floordiv {{[0-9]+}}, d0, d2 floordiv 2, d3 floordiv 2, d1 mod {{[0-9]+}})>
// CHECK-LABEL: te.schedule for @phases
// CHECK:         %[[W:.*]] = te.input 1
// CHECK:         te.transform_layout %[[W]] by #[[PHASES]]
func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x64x16x16xf32> {
  %w = relay.constant dense<1.0> : tensor<32x64x4x4xf32>
  %0 = call @phases(%x, %w) : (tensor<1x32x8x8xf32>, tensor<32x64x4x4xf32>) -> tensor<1x64x16x16xf32>
  return %0 : tensor<1x64x16x16xf32>
}
func.func @phases(%x: tensor<1x32x8x8xf32>, %w: tensor<32x64x4x4xf32>) -> tensor<1x64x16x16xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x64x4x4xf32>) -> tensor<1x64x16x16xf32>
  return %0 : tensor<1x64x16x16xf32>
}

// -----

// Filters and places of a kernel that are one axis of a product are panels of whole kernels.
// CHECK:       #[[PANELS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv {{[0-9]+}}, d0, d1 mod {{[0-9]+}}, d2, d3)>
// CHECK-LABEL: te.schedule for @one
// CHECK:         %[[W:.*]] = te.input 1
// CHECK:         te.transform_layout %[[W]] by #[[PANELS]]
func.func @main(%x: tensor<1x100x1x1xf32>) -> tensor<1x64x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<100x64x4x4xf32>
  %0 = call @one(%x, %w) : (tensor<1x100x1x1xf32>, tensor<100x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  return %0 : tensor<1x64x4x4xf32>
}
func.func @one(%x: tensor<1x100x1x1xf32>, %w: tensor<100x64x4x4xf32>) -> tensor<1x64x4x4xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_transpose %x, %w : (tensor<1x100x1x1xf32>, tensor<100x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  return %0 : tensor<1x64x4x4xf32>
}

// -----

// A weight that is no constant stays as it is given.
// CHECK-LABEL: te.schedule for @given
// CHECK-NOT:     te.input 1
// CHECK:         te.vectorize
func.func @given(%x: tensor<1x100x1x1xf32>, %w: tensor<100x64x4x4xf32>) -> tensor<1x64x4x4xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_transpose %x, %w : (tensor<1x100x1x1xf32>, tensor<100x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  return %0 : tensor<1x64x4x4xf32>
}
