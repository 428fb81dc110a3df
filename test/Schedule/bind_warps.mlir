// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Warps and their lanes are kinds of loops.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 block_x
// CHECK:         loop.for 4 warp
// CHECK:           loop.for 32 lane
// CHECK:             loop.load
te.kernel @k(%x: tensor<24x32xf32>) -> tensor<24x32xf32> {
  %0 = te.compute "twice" axes [24, 32] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<24x32xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<24x32xf32>
  te.return %0 : tensor<24x32xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %b, %w = te.split %i by 4
  te.bind %b to block_x
  te.bind %w to warp
  te.bind %j to lane
}

// -----

// What lanes have of a sum is combined, and the first of them stores it.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 8 warp
// CHECK:         %[[L:.*]] = loop.thread_index 32 lane
// CHECK:         %[[P:.*]] = loop.for 3 serial iter
// CHECK:         %[[S:.*]] = loop.all_reduce 32 lane(%[[P]] : f32)
// CHECK:         arith.cmpi eq, %[[L]]
// CHECK:         loop.guard
// CHECK-NEXT:      affine.apply
// CHECK-NEXT:      loop.store %[[S]]
te.kernel @k(%x: tensor<64x96xf32>) -> tensor<64xf32> {
  %0 = te.compute "sum" axes [64] reduce [96] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<64x96xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<64xf32>
  te.return %0 : tensor<64xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %b, %w = te.split %i by 8
  %o, %l = te.split %k by 32
  te.bind %b to block_x
  te.bind %w to warp
  te.bind %l to lane
}
