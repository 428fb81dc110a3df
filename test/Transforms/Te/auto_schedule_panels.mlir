// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// Panels that are too long for the first cache are packed as many at a time as half of the second holds; threads share both the
// packing and the rows of each block.
// CHECK-LABEL: te.schedule for @blocks
// CHECK:         %[[MATMUL:.*]] = te.stage "matmul"
// CHECK:         %[[AXES:.*]]:3 = te.axes %[[MATMUL]]
// CHECK:         %[[PANELS:.*]], %{{.*}} = te.split %[[AXES]]#1 by 32
// CHECK:         %[[BLOCK:.*]], %[[PANEL:.*]] = te.split %[[PANELS]] by 8
// CHECK:         %[[ROWS:.*]], %[[ROW:.*]] = te.split %[[AXES]]#0 by 12
// CHECK:         te.reorder %[[BLOCK]], %[[ROWS]], %[[PANEL]], %[[ROW]]
// CHECK:         %[[COPY:.*]] = te.cache_read %{{.*}} as "panel"
// CHECK:         %[[OF_COPY:.*]]:2 = te.axes %[[COPY]]
// CHECK:         %[[EACH:.*]], %{{.*}} = te.split %[[OF_COPY]]#1 by 32
// CHECK:         te.compute_at %[[COPY]], %[[BLOCK]]
// CHECK:         te.parallel %[[EACH]]
// CHECK:         te.parallel %[[ROWS]]
func.func @blocks(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// A panel that stays in the first cache is packed alone.
// CHECK-LABEL: te.schedule for @near
// CHECK:         %[[PANELS:.*]], %{{.*}} = te.split %{{.*}}#1 by
// CHECK-NOT:     te.split %[[PANELS]]
// CHECK:         te.compute_at %{{.*}}, %[[PANELS]]
// CHECK:         te.parallel %[[PANELS]]
func.func @near(%x: tensor<512x32xf32>, %w: tensor<32x512xf32>) -> tensor<512x512xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<512x32xf32>, tensor<32x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// All images share the panels: the tiles of rows of each go over these, not each panel over all images.
// CHECK-LABEL: te.schedule for @images
// CHECK:         %[[A:.*]]:5 = te.axes
// CHECK:         %[[P:.*]], %{{.*}} = te.split %[[A]]#3 by
// CHECK:         %[[R:.*]], %{{.*}} = te.split %[[A]]#2 by
// CHECK:         te.reorder %[[A]]#0, %[[A]]#1, %[[R]], %[[P]],
func.func @images(%x: tensor<1x64x64x128xf32>, %w: tensor<128x128xf32>) -> tensor<1x64x64x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<1x64x64x128xf32>, tensor<128x128xf32>) -> tensor<1x64x64x128xf32>
  return %0 : tensor<1x64x64x128xf32>
}

// -----

// Of more blocks than tiles of rows threads share the blocks: each reads the panels of its own, and all of it is one loop for them.
// CHECK-LABEL: te.schedule for @many
// CHECK:         %[[M:.*]] = te.stage "matmul"
// CHECK:         %[[A:.*]]:3 = te.axes %[[M]]
// CHECK:         %[[P:.*]], %{{.*}} = te.split %[[A]]#1 by
// CHECK:         %[[B:.*]], %[[I:.*]] = te.split %[[P]] by
// CHECK:         %[[R:.*]], %{{.*}} = te.split %[[A]]#0 by
// CHECK:         te.reorder %[[B]], %[[R]], %[[I]],
// CHECK-NOT:     te.parallel %[[R]]
// CHECK:         te.parallel %[[B]]
// CHECK-NOT:     te.parallel
func.func @main(%x: tensor<128x768xf32>) -> tensor<128x3072xf32> {
  %w = relay.constant dense<1.0> : tensor<768x3072xf32>
  %0 = call @many(%x, %w) : (tensor<128x768xf32>, tensor<768x3072xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}
func.func @many(%x: tensor<128x768xf32>, %w: tensor<768x3072xf32>) -> tensor<128x3072xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<128x768xf32>, tensor<768x3072xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}
