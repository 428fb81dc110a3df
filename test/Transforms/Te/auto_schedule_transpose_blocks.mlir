// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' | FileCheck %s

// Channels that come in blocks of 32 are parted, and rows of 28 pixels, which do not fill vectors, are one: tiles of 16 channels, read as they
// lie, by 16 pixels.
// CHECK-LABEL: te.schedule for @apart
// CHECK:         %[[A:.*]]:4 = te.axes
// CHECK:         %[[B:[a-z_0-9]+]], %[[C:[a-z_0-9]+]] = te.split %[[A]]#1 by 32
// CHECK:         %[[P:[a-z_0-9]+]] = te.fuse %[[A]]#2, %[[A]]#3
// CHECK:         te.split %[[C]] by 16
// CHECK:         te.split %[[P]] by 64
// CHECK:         te.unroll
// CHECK:         te.vectorize
func.func @apart(%x: tensor<1x4x28x28x32xf32>) -> tensor<1x128x28x28xf32> attributes {relay.primitive} {
  %0 = relay.layout_transform %x {src_layout = "NCHW32c", dst_layout = "NCHW"} : (tensor<1x4x28x28x32xf32>) -> tensor<1x128x28x28xf32>
  return %0 : tensor<1x128x28x28xf32>
}

// What is elementwise behind it is computed in the tiles.
// CHECK-LABEL: te.schedule for @apart_and_added
// CHECK:         te.split %{{.*}} by 32
// CHECK:         te.fuse
// CHECK:         te.unroll
// CHECK:         te.vectorize
func.func @apart_and_added(%x: tensor<1x2x7x7x32xf32>, %b: tensor<64x1x1xf32>) -> tensor<1x64x7x7xf32> attributes {relay.primitive} {
  %0 = relay.layout_transform %x {src_layout = "NCHW32c", dst_layout = "NCHW"} : (tensor<1x2x7x7x32xf32>) -> tensor<1x64x7x7xf32>
  %1 = relay.add %0, %b : (tensor<1x64x7x7xf32>, tensor<64x1x1xf32>) -> tensor<1x64x7x7xf32>
  return %1 : tensor<1x64x7x7xf32>
}

// Pixels that vectors go across are one as well.
// CHECK-LABEL: te.schedule for @into_blocks
// CHECK:         %[[A:.*]]:5 = te.axes
// CHECK:         te.fuse %[[A]]#2, %[[A]]#3
// CHECK-NOT:     te.fuse
func.func @into_blocks(%x: tensor<1x128x28x28xf32>) -> tensor<1x4x28x28x32xf32> attributes {relay.primitive} {
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW32c"} : (tensor<1x128x28x28xf32>) -> tensor<1x4x28x28x32xf32>
  return %0 : tensor<1x4x28x28x32xf32>
}

// Rows that fill vectors stay as they are.
// CHECK-LABEL: te.schedule for @full
// CHECK-NOT:     te.fuse
// CHECK:         te.reorder
func.func @full(%x: tensor<1x64x64x128xf32>) -> tensor<1x128x64x64xf32> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x64x64x128xf32>) -> tensor<1x128x64x64xf32>
  return %0 : tensor<1x128x64x64xf32>
}
