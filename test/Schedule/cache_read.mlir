// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Copied once, before its reader; the reader reads the copy.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<144xf32> {llvm.noalias}, %[[W:.*]]: memref<768xf32>
// CHECK-SAME:    loop.workspace = 3072 : i64
// CHECK:         %[[COPY:.*]] = memref.view %{{.*}} to memref<768xf32>
// CHECK:         loop.for 24 serial
// CHECK:           loop.for 32 serial
// CHECK:             %[[V:.*]] = loop.load %[[W]]
// CHECK:             loop.store %[[V]], %[[COPY]]
// CHECK:         loop.for 6 serial
// CHECK-NOT:       loop.load %[[W]]
// CHECK:           loop.load %[[X]]
// CHECK:           loop.load %[[COPY]]
// CHECK-NOT:       loop.load %[[W]]
// CHECK:         return
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
  %w = te.input 1
  %c = te.cache_read %w as "copy" for %s
}

// -----

// At a loop of the reader, what an iteration reads is copied: a row.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 6 serial
// CHECK:           %[[ROW:.*]] = loop.alloc local : memref<24xf32>
// CHECK:           loop.for 24 serial
// CHECK:             loop.store %{{.*}}, %[[ROW]]
// CHECK:           loop.for 32 serial
// CHECK:             loop.for 24 serial iter
// CHECK:               loop.load %[[ROW]]
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
  %x = te.input 0
  %c = te.cache_read %x as "row"
  te.compute_at %c, %i
}

// -----

// A stage can be copied as an argument can.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 20 serial
// CHECK:           arith.addf
// CHECK:         loop.for 20 serial
// CHECK:           loop.load %[[TWICE:.*]][
// CHECK:           loop.store %{{.*}}, %{{.*}}[
// CHECK:         loop.for 18 serial
// CHECK-NOT:       loop.load %[[TWICE]][
// CHECK:         return
te.kernel @k(%x: tensor<20xf32>) -> tensor<18xf32> {
  %0 = te.compute "twice" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20xf32>
  %1 = te.compute "blur" axes [18] reduce [] init [] {
  ^bb0(%i: index):
    %c2 = arith.constant 2 : index
    %i2 = arith.addi %i, %c2 : index
    %a = te.load %0[%i] : tensor<20xf32> -> f32
    %b = te.load %0[%i2] : tensor<20xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<18xf32>
  te.return %1 : tensor<18xf32>
}
te.schedule for @k {
  %s = te.stage "blur"
  %i = te.axes %s : !te.axis
  %t = te.stage "twice"
  %c = te.cache_read %t as "copy" for %s
}

// -----

// A stage that reads a tensor at two places has a copy for each: the loads of its text are numbered, whatever they read.
// CHECK-LABEL: func.func private @twice(
// CHECK-SAME:    %[[X:.*]]: memref<192xf32>
// CHECK:         loop.for 8 serial
// CHECK:           %[[ROW:.*]] = loop.alloc local : memref<24xf32>
// CHECK:           loop.for 24 serial
// CHECK:             loop.load %[[X]]
// CHECK:             loop.store %{{.*}}, %[[ROW]]
// CHECK:           loop.for 8 serial
// CHECK:             loop.for 24 serial iter
// CHECK:               loop.load %[[ROW]]
// CHECK:               loop.load %[[X]]
te.kernel @twice(%x: tensor<8x24xf32>) -> tensor<8x8xf32> {
  %0 = te.compute "dense" axes [8, 8] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<8x24xf32> -> f32
    %b = te.load %x[%j, %k] : tensor<8x24xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<8x8xf32>
  te.return %0 : tensor<8x8xf32>
}
te.schedule for @twice {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %x = te.input 0
  %rows = te.cache_read %x as "rows" for %s read 0
  te.compute_at %rows, %i
}
