// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The epilogue stands behind the sum, which is a value.
// CHECK-LABEL: func.func private @k(
// CHECK-NOT:   memref.view
// CHECK:       loop.for 6 serial
// CHECK:         %[[S:.*]] = loop.for 24 serial iter
// CHECK:         %[[R:.*]] = arith.maximumf %[[S]]
// CHECK:         loop.store %[[R]]
// CHECK-NOT:   loop.for
// CHECK:       return
te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %r = te.stage "relu"
  te.reverse_compute_at %r, %i
}

// -----

// A tile of the producer, with a remainder, is a tile of the consumer, whose loops are its own.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 3 serial
// CHECK:           %[[T:.*]] = loop.alloc local : memref<7xf32>
// CHECK:           loop.for 7 serial
// CHECK:             loop.store %{{.*}}, %[[T]]
// CHECK:           loop.for 7 vectorized
// CHECK:             loop.load %[[T]]
// CHECK:         %[[T3:.*]] = loop.alloc local : memref<3xf32>
// CHECK:         loop.for 3 serial
// CHECK:         loop.for 3 vectorized
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  %ai, %aj = te.axes %a : !te.axis, !te.axis
  te.vectorize %j
  %o, %n = te.split %aj by 7
  te.reverse_compute_at %s, %o
}
