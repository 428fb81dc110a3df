// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// One row: the sum of a block is computed in a step of the sum over blocks, both in registers; the numbers of a word are written out, and later words
// are prefetched. Weight and scales lie in panels of a tile.
// CHECK:       #[[PANELS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 128, d1, d0 mod 128)>
// CHECK-LABEL: te.schedule for @one_row
// CHECK:         %[[WEIGHT:.*]] = te.input 1
// CHECK-NEXT:    te.transform_layout %[[WEIGHT]] by #[[PANELS]]
// CHECK-NEXT:    %[[SCALE:.*]] = te.input 2
// CHECK-NEXT:    te.transform_layout %[[SCALE]] by #[[PANELS]]
// CHECK-NEXT:    %[[SUM:.*]] = te.stage "dense_few_bits_3"
// CHECK-NEXT:    %[[AXES:.*]]:3 = te.axes %[[SUM]]
// CHECK-NEXT:    %[[PANEL:.*]], %[[INNER:.*]] = te.split %[[AXES]]#1 by 128
// CHECK-NEXT:    %[[VECTORS:.*]], %[[LANES:.*]] = te.split %[[INNER]] by 16
// CHECK-NEXT:    te.unroll %[[VECTORS]]
// CHECK-NEXT:    te.vectorize %[[LANES]]
// CHECK-NEXT:    te.reorder %[[PANEL]], %[[AXES]]#0, %[[VECTORS]], %[[LANES]], %[[AXES]]#2
// CHECK-NEXT:    %[[BLOCK:.*]] = te.stage "blocks_2"
// CHECK-NEXT:    te.compute_at %[[BLOCK]], %[[AXES]]#2
// CHECK-NEXT:    %[[STEPS:.*]]:6 = te.axes %[[BLOCK]]
// CHECK-NEXT:    te.unroll %[[STEPS]]#5
// CHECK-NEXT:    te.unroll %[[STEPS]]#4
// CHECK-NEXT:    te.prefetch %[[WEIGHT]], %[[STEPS]]#3 ahead 8
// CHECK:         te.parallel %[[PANEL]]
func.func @main(%x: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %w = relay.constant dense<1123> : tensor<4096x512xui32>
  %s = relay.constant dense<1.5> : tensor<4096x128xf32>
  %z = relay.constant dense<8.0> : tensor<1x1xf32>
  %0 = call @one_row(%x, %w, %s, %z) : (tensor<1x4096xf32>, tensor<4096x512xui32>, tensor<4096x128xf32>, tensor<1x1xf32>) -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}
func.func private @one_row(%x: tensor<1x4096xf32>, %w: tensor<4096x512xui32>, %s: tensor<4096x128xf32>, %z: tensor<1x1xf32>) -> tensor<1x4096xf32> attributes {relay.primitive} {
  %0 = relay.dense_few_bits %x, %w, %s, %z {bits = 4} : (tensor<1x4096xf32>, tensor<4096x512xui32>, tensor<4096x128xf32>, tensor<1x1xf32>) -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}

// -----

// Some rows, and an epilogue that has the loops: a tile has half of the registers for the sums of blocks.
// CHECK-LABEL: te.schedule for @some_rows
// CHECK:         %[[RELU:.*]] = te.stage "relu_4"
// CHECK-NEXT:    %[[AXES:.*]]:2 = te.axes %[[RELU]]
// CHECK-NEXT:    te.split %[[AXES]]#1 by 64
// CHECK-NEXT:    %{{.*}}, %[[ROWS:.*]] = te.split %[[AXES]]#0 by 3
// CHECK-NEXT:    te.unroll %[[ROWS]]
// CHECK:         %[[SUM:.*]] = te.stage "dense_few_bits_3"
// CHECK-NEXT:    te.compute_at %[[SUM]], %
// CHECK:         %[[BLOCK:.*]] = te.stage "blocks_2"
// CHECK:         te.compute_at %[[BLOCK]], %
func.func @main(%x: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %w = relay.constant dense<1123> : tensor<4096x512xui32>
  %s = relay.constant dense<1.5> : tensor<4096x128xf32>
  %z = relay.constant dense<8.0> : tensor<1x1xf32>
  %0 = call @some_rows(%x, %w, %s, %z) : (tensor<8x4096xf32>, tensor<4096x512xui32>, tensor<4096x128xf32>, tensor<1x1xf32>) -> tensor<8x4096xf32>
  return %0 : tensor<8x4096xf32>
}
func.func private @some_rows(%x: tensor<8x4096xf32>, %w: tensor<4096x512xui32>, %s: tensor<4096x128xf32>, %z: tensor<1x1xf32>) -> tensor<8x4096xf32> attributes {relay.primitive} {
  %0 = relay.dense_few_bits %x, %w, %s, %z {bits = 4} : (tensor<8x4096xf32>, tensor<4096x512xui32>, tensor<4096x128xf32>, tensor<1x1xf32>) -> tensor<8x4096xf32>
  %1 = relay.relu %0 : (tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %1 : tensor<8x4096xf32>
}

// -----

// Many rows: a panel of weights, as wide as half of the second cache holds, is made for all of them. The eight numbers of a word are made together.
// CHECK:       #[[PANELS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 32, d1, d0 mod 32)>
// CHECK-LABEL: te.schedule for @many_rows
// CHECK:         %[[SUM:.*]] = te.stage "dense_few_bits_1"
// CHECK-NEXT:    %[[AXES:.*]]:3 = te.axes %[[SUM]]
// CHECK-NEXT:    %[[PANEL:.*]], %{{.*}} = te.split %[[AXES]]#1 by 32
// CHECK-NEXT:    %{{.*}}, %[[ROWS:.*]] = te.split %[[AXES]]#0 by 6
// CHECK-NEXT:    te.unroll %[[ROWS]]
// CHECK-COUNT-2: te.transform_layout %{{.*}} by #[[PANELS]]
// CHECK:         %[[MATRIX:.*]] = te.stage "weights"
// CHECK-NEXT:    te.transform_layout %[[MATRIX]] by #[[PANELS]]
// CHECK-NEXT:    %[[OF:.*]]:2 = te.axes %[[MATRIX]]
// CHECK-NEXT:    %{{.*}}, %[[EACH:.*]] = te.split %[[OF]]#1 by 8
// CHECK-NEXT:    te.unroll %[[EACH]]
// CHECK:         te.compute_at %[[MATRIX]], %[[PANEL]]
// CHECK-NEXT:    te.parallel %[[PANEL]]
func.func @main(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %w = relay.constant dense<1123> : tensor<4096x512xui32>
  %s = relay.constant dense<1.5> : tensor<4096x128xf32>
  %z = relay.constant dense<8.0> : tensor<1x1xf32>
  %0 = call @many_rows(%x, %w, %s, %z) : (tensor<64x4096xf32>, tensor<4096x512xui32>, tensor<4096x128xf32>, tensor<1x1xf32>) -> tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}
func.func private @many_rows(%x: tensor<64x4096xf32>, %w: tensor<4096x512xui32>, %s: tensor<4096x128xf32>, %z: tensor<1x1xf32>) -> tensor<64x4096xf32> attributes {relay.primitive} {
  %0 = relay.dense_few_bits %x, %w, %s, %z {bits = 4} : (tensor<64x4096xf32>, tensor<4096x512xui32>, tensor<4096x128xf32>, tensor<1x1xf32>) -> tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}
