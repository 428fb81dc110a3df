// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te.kernel(te-merge),te-schedule)' | FileCheck %s

// The same columns of both pieces of a product are computed, each in a stage of its own, and what goes over them. The weight lies in panels once.
// CHECK:       #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv [[WIDTH:[0-9]+]], d0, d1 mod [[WIDTH]])>
// CHECK-LABEL: te.schedule for @gated
// CHECK:         %[[P:.*]] = te.stage "matmul"
// CHECK:         %[[HOST:.*]] = te.stage "mul
// CHECK:         %[[SECOND:.*]] = te.recompute %[[P]] as "matmul_piece_1" for %[[HOST]] part [1, 256, 512]
// CHECK:         %[[A:.*]]:2 = te.axes %[[HOST]]
// CHECK:         %[[PANEL:[a-z_0-9]+]], %[[I:[a-z_0-9]+]] = te.split %[[A]]#1 by [[WIDTH]]
// CHECK:         te.reorder %[[PANEL]], %[[A]]#0
// CHECK-COUNT-1: te.transform_layout %{{.*}} by #[[PANELS]]
// CHECK-NOT:     te.transform_layout
// CHECK:         te.compute_at %[[P]], %[[PANEL]]
// CHECK:         te.compute_at %[[SECOND]], %[[PANEL]]
// CHECK:         te.parallel %[[PANEL]]

// Where a stage between is read twice, it is computed for the columns of a panel as well.
// CHECK-LABEL: te.schedule for @twice
// CHECK:         %[[P:.*]] = te.stage "matmul"
// CHECK:         %[[BETWEEN:.*]] = te.stage "sigmoid_3"
// CHECK:         te.recompute %[[P]] as "matmul_piece_1" for %[[BETWEEN]] part [1, 256, 512]
// CHECK:         te.compute_at %[[BETWEEN]], %[[PANEL:.*]]
// CHECK:         te.compute_at %[[P]], %[[PANEL]]

// Pieces that no four panels of whole vectors make up, and those of many rows, are read from the stored product.
// CHECK-LABEL: te.schedule for @narrow
// CHECK-NOT:     te.recompute
// CHECK-LABEL: te.schedule for @tall
// CHECK-NOT:     te.recompute
func.func @main(%x: tensor<1x256xf32>, %y: tensor<4096x256xf32>) -> (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x16xf32>, tensor<4096x256xf32>) {
  %w = relay.constant dense<0.5> : tensor<256x512xf32>
  %v = relay.constant dense<0.5> : tensor<256x32xf32>
  %0 = call @gated(%x, %w) : (tensor<1x256xf32>, tensor<256x512xf32>) -> tensor<1x256xf32>
  %1 = call @twice(%x, %w) : (tensor<1x256xf32>, tensor<256x512xf32>) -> tensor<1x256xf32>
  %2 = call @narrow(%x, %v) : (tensor<1x256xf32>, tensor<256x32xf32>) -> tensor<1x16xf32>
  %3 = call @tall(%y, %w) : (tensor<4096x256xf32>, tensor<256x512xf32>) -> tensor<4096x256xf32>
  return %0, %1, %2, %3 : tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x16xf32>, tensor<4096x256xf32>
}
func.func @gated(%x: tensor<1x256xf32>, %w: tensor<256x512xf32>) -> tensor<1x256xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<1x256xf32>, tensor<256x512xf32>) -> tensor<1x512xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<1x512xf32>) -> tensor<1x256xf32>
  %2 = relay.slice %0 {begin = array<i64: 256>, end = array<i64: 512>, axes = array<i64: 1>} : (tensor<1x512xf32>) -> tensor<1x256xf32>
  %3 = relay.sigmoid %2 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %4 = relay.mul %1, %3 : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  return %4 : tensor<1x256xf32>
}
func.func @twice(%x: tensor<1x256xf32>, %w: tensor<256x512xf32>) -> tensor<1x256xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<1x256xf32>, tensor<256x512xf32>) -> tensor<1x512xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<1x512xf32>) -> tensor<1x256xf32>
  %2 = relay.slice %0 {begin = array<i64: 256>, end = array<i64: 512>, axes = array<i64: 1>} : (tensor<1x512xf32>) -> tensor<1x256xf32>
  %3 = relay.sigmoid %2 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %4 = relay.mul %1, %3 : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %5 = relay.add %4, %3 : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  return %5 : tensor<1x256xf32>
}
func.func @narrow(%x: tensor<1x256xf32>, %w: tensor<256x32xf32>) -> tensor<1x16xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<1x256xf32>, tensor<256x32xf32>) -> tensor<1x32xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 16>, axes = array<i64: 1>} : (tensor<1x32xf32>) -> tensor<1x16xf32>
  %2 = relay.slice %0 {begin = array<i64: 16>, end = array<i64: 32>, axes = array<i64: 1>} : (tensor<1x32xf32>) -> tensor<1x16xf32>
  %3 = relay.sigmoid %2 : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %4 = relay.mul %1, %3 : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  return %4 : tensor<1x16xf32>
}
func.func @tall(%x: tensor<4096x256xf32>, %w: tensor<256x512xf32>) -> tensor<4096x256xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<4096x256xf32>, tensor<256x512xf32>) -> tensor<4096x512xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<4096x512xf32>) -> tensor<4096x256xf32>
  %2 = relay.slice %0 {begin = array<i64: 256>, end = array<i64: 512>, axes = array<i64: 1>} : (tensor<4096x512xf32>) -> tensor<4096x256xf32>
  %3 = relay.sigmoid %2 : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %4 = relay.mul %1, %3 : (tensor<4096x256xf32>, tensor<4096x256xf32>) -> tensor<4096x256xf32>
  return %4 : tensor<4096x256xf32>
}
