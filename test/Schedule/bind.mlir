// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Blocks and threads are kinds of loops.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 block_x
// CHECK:         loop.for 32 thread_x
// CHECK:           loop.for 24 serial iter
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
  te.bind %i to block_x
  te.bind %j to thread_x
}

// -----

// So are virtual threads.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 2 virtual_thread
// CHECK:         loop.for 3 serial
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
  %o, %n = te.split %i by 3
  te.bind %o to virtual_thread
}

// -----

// A reduction loop is shared by threads, which combine what each of them has; one of them stores it.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 block_x
// CHECK:         %[[T:.*]] = loop.thread_index 32 thread_x
// CHECK:         %[[P:.*]] = loop.for 3 serial iter
// CHECK:         %[[S:.*]] = loop.all_reduce 32 thread_x(%[[P]] : f32)
// CHECK:           arith.addf
// CHECK:         arith.cmpi eq, %[[T]]
// CHECK:         loop.guard
// CHECK-NEXT:      loop.store %[[S]]
te.kernel @k(%x: tensor<6x96xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [96] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x96xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  te.return %0 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %o, %t = te.split %k by 32
  te.bind %i to block_x
  te.bind %t to thread_x
}

// -----

// Threads of y share it, and those of x have a sum each: a value of every thread may be handed over.
// CHECK-LABEL: func.func private @k(
// CHECK:       %[[B:.*]] = loop.alloc shared : memref<128xf32>
// CHECK:       loop.for 8 thread_x
// CHECK:         loop.thread_index 16 thread_y
// CHECK:         loop.all_reduce 16 thread_y(%{{.*}} : f32) by(%[[B]] : memref<128xf32>)
te.kernel @k(%x: tensor<96x8xf32>) -> tensor<8xf32> {
  %0 = te.compute "sum" axes [8] reduce [96] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%k, %i] : tensor<96x8xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.bind %i to thread_x
  %o, %n = te.split %k by 16
  te.bind %n to thread_y
}
