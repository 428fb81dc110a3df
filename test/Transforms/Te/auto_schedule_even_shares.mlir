// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Three images on two cores: four of the tiles of rows at a time are shared, so that a core has three of six iterations.
// CHECK-LABEL: te.schedule for @fused_transpose
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK:         %[[YO:.*]], %{{.*}} = te.split %[[A]]#1 by 64
// CHECK:         te.reorder %[[A]]#0, %[[YO]],
// CHECK-NEXT:    %[[PART:.*]], %{{.*}} = te.split %[[YO]] by 4
// CHECK-NEXT:    %[[SHARED:.*]] = te.fuse %[[A]]#0, %[[PART]]
// CHECK-NEXT:    te.parallel %[[SHARED]]
func.func @main(%x: tensor<3x500x512xf32>) -> tensor<3x512x500xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<3x500x512xf32>) -> tensor<3x512x500xf32>
  return %0 : tensor<3x512x500xf32>
}

// -----

// Seven tiles of places on two cores, each of three panels of filters: a core takes ten or eleven of them, not nine or twelve.
// CHECK-LABEL: te.schedule for @fused_conv2d
// CHECK:         te.reorder %{{.*}}, %[[TILE:[^,]*]], %[[PANEL:[^,]*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
// CHECK:         %[[SHARED:.*]] = te.fuse %[[TILE]], %[[PANEL]]
// CHECK-NEXT:    te.parallel %[[SHARED]]
func.func @main(%x: tensor<1x576x7x14xf32>, %w: tensor<96x576x1x1xf32>) -> tensor<1x96x7x14xf32> {
  %0 = relay.conv2d %x, %w : (tensor<1x576x7x14xf32>, tensor<96x576x1x1xf32>) -> tensor<1x96x7x14xf32>
  return %0 : tensor<1x96x7x14xf32>
}

// -----

// Three images on two cores, each in blocks of rows that are transformed, multiplied and transformed back: an iteration is one of fourteen
// blocks of an image, with all that is computed in it.
// CHECK-LABEL: te.schedule for @fused_winograd_conv2d
// CHECK:         %[[BLOCK:.*]], %{{.*}} = te.split %[[A:.*]]#2 by 4
// CHECK:         te.compute_at %{{.*}}, %[[BLOCK]]
// CHECK:         te.compute_at %{{.*}}, %[[BLOCK]]
// CHECK:         te.compute_at %{{.*}}, %[[BLOCK]]
// CHECK:         %[[SHARED:.*]] = te.fuse %[[A]]#0, %[[BLOCK]]
// CHECK-NEXT:    te.parallel %[[SHARED]]
func.func @main(%x: tensor<3x64x56x56xf32>) -> tensor<3x64x56x56xf32> {
  %w = relay.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<3x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<3x64x56x56xf32>
  return %0 : tensor<3x64x56x56xf32>
}

// -----

// The last of two blocks of columns is a part of one: an iteration is a whole matrix.
// CHECK-LABEL: te.schedule for @fused_batch_matmul
// CHECK:         te.reorder %[[MATRIX:[^,]*]],
// CHECK-NOT:     te.fuse
// CHECK:         te.parallel %[[MATRIX]]
func.func @main(%x: tensor<3x128x1000xf16>, %w: tensor<3x1000x72xf16>) -> tensor<3x128x72xf16> {
  %0 = relay.batch_matmul %x, %w : (tensor<3x128x1000xf16>, tensor<3x1000x72xf16>) -> tensor<3x128x72xf16>
  return %0 : tensor<3x128x72xf16>
}

// -----

// Four images go evenly into two cores.
// CHECK-LABEL: te.schedule for @fused_transpose
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK-NOT:     te.fuse
// CHECK:         te.parallel %[[A]]#0
func.func @main(%x: tensor<4x500x512xf32>) -> tensor<4x512x500xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<4x500x512xf32>) -> tensor<4x512x500xf32>
  return %0 : tensor<4x512x500xf32>
}
