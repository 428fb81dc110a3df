// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver4},convert-relay-to-te,te.kernel(te-merge),te-schedule)' --split-input-file | FileCheck %s

// The same columns of both pieces of the seven products are computed, each in a stage of its own, then what goes over the four pieces that they give,
// in both halves of the rows.
// CHECK:       #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 32, d0, d1, d2 mod 32)>
// CHECK-LABEL: te.schedule for @gates
// CHECK:         te.transform_layout %{{.*}} by #[[PANELS]]
// CHECK:         %[[PRODUCTS:.*]] = te.stage "products_1"
// CHECK:         %[[HOST:.*]] = te.stage "add_{{[0-9]+}}"
// CHECK:         %[[SECOND:.*]] = te.recompute %[[PRODUCTS]] as "products_1_piece_1" for %[[HOST]] part [2, 128, 256]
// CHECK:         %[[AXES:.*]]:2 = te.axes %[[HOST]]
// CHECK-NEXT:    %[[PANEL:.*]], %[[COLUMNS:.*]] = te.split %[[AXES]]#1 by 32
// CHECK:         %[[LOWER:.*]], %[[ROW:.*]] = te.split %[[AXES]]#0 by 8
// CHECK-NEXT:    te.reorder %[[PANEL]], %[[ROW]], %{{[a-z_0-9]+}}, %[[LOWER]], %
// CHECK-NEXT:    te.unroll %[[LOWER]]
// CHECK:         te.compute_at %[[PRODUCTS]], %[[PANEL]]
// CHECK:         te.compute_at %[[SECOND]], %[[PANEL]]
// CHECK:         te.parallel %[[PANEL]]
func.func @main(%x: tensor<16x256xf32>) -> tensor<16x128xf32> {
  %u = relay.constant dense<1.0> : tensor<7x128x256xf32>
  %0 = call @gates(%x, %u) : (tensor<16x256xf32>, tensor<7x128x256xf32>) -> tensor<16x128xf32>
  return %0 : tensor<16x128xf32>
}
func.func private @gates(%x: tensor<16x256xf32>, %u: tensor<7x128x256xf32>) -> tensor<16x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul_strassen %x, %u : (tensor<16x256xf32>, tensor<7x128x256xf32>) -> tensor<16x512xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 128>, axes = array<i64: 1>} : (tensor<16x512xf32>) -> tensor<16x128xf32>
  %2 = relay.slice %0 {begin = array<i64: 128>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<16x512xf32>) -> tensor<16x128xf32>
  %3 = relay.slice %0 {begin = array<i64: 256>, end = array<i64: 384>, axes = array<i64: 1>} : (tensor<16x512xf32>) -> tensor<16x128xf32>
  %4 = relay.slice %0 {begin = array<i64: 384>, end = array<i64: 512>, axes = array<i64: 1>} : (tensor<16x512xf32>) -> tensor<16x128xf32>
  %5 = relay.mul %1, %2 : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
  %6 = relay.mul %3, %4 : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
  %7 = relay.add %5, %6 : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
  return %7 : tensor<16x128xf32>
}

// -----

// A piece of three lies in both halves: nothing of this kind.
// CHECK-LABEL: te.schedule for @three
// CHECK-NOT:     te.recompute
func.func @main(%x: tensor<16x256xf32>) -> tensor<16x128xf32> {
  %u = relay.constant dense<1.0> : tensor<7x128x192xf32>
  %0 = call @three(%x, %u) : (tensor<16x256xf32>, tensor<7x128x192xf32>) -> tensor<16x128xf32>
  return %0 : tensor<16x128xf32>
}
func.func private @three(%x: tensor<16x256xf32>, %u: tensor<7x128x192xf32>) -> tensor<16x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul_strassen %x, %u : (tensor<16x256xf32>, tensor<7x128x192xf32>) -> tensor<16x384xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 128>, axes = array<i64: 1>} : (tensor<16x384xf32>) -> tensor<16x128xf32>
  %2 = relay.slice %0 {begin = array<i64: 128>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<16x384xf32>) -> tensor<16x128xf32>
  %3 = relay.mul %1, %2 : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
  return %3 : tensor<16x128xf32>
}
