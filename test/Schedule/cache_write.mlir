// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The sums are computed into a tile; the stage of that name copies it to the result.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    memref<768xf32> {llvm.noalias}, %[[Y:.*]]: memref<192xf32>
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 2 serial
// CHECK:             %[[TILE:.*]] = loop.alloc local : memref<16xf32>
// CHECK:             loop.for 16 serial
// CHECK:               %[[SUM:.*]] = loop.for 24 serial iter
// CHECK:               loop.store %[[SUM]], %[[TILE]]
// CHECK:             loop.for 16 serial
// CHECK:               %[[V:.*]] = loop.load %[[TILE]]
// CHECK:               loop.store %[[V]], %[[Y]]
te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.schedule for @k {
  %s = te.stage "dense"
  %c = te.cache_write %s as "acc"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %o, %n = te.split %j by 16
  te.compute_at %c, %o
}

// -----

// Loops that were named before are those of the copy.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 32 serial
// CHECK:             loop.for 24 serial iter
// CHECK:         loop.for 6 parallel
// CHECK:           loop.for 32 serial
// CHECK-NOT:         loop.for
// CHECK:             loop.store
te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %c = te.cache_write %s as "acc"
  te.parallel %i
}
