// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Blocks of 2 x 16, the loops over blocks outside.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 3 serial
// CHECK:         loop.for 2 serial
// CHECK:           loop.for 2 serial
// CHECK:             loop.for 16 serial
// CHECK:               loop.for 24 serial iter
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
  %io, %jo, %ii, %ji = te.tile %i, %j by [2, 16]
}
