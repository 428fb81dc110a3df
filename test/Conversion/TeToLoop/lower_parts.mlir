// RUN: fusion-opt %s --te-lower --canonicalize --split-input-file | FileCheck %s

// A nest that computes in parts is a loop over all of them, where it stands on its own.
// CHECK-LABEL: func.func private @alone(
// CHECK:       loop.for 9 serial
// CHECK:       loop.for 8 serial {
// CHECK-NEXT:  ^bb0(%[[Q:.*]]: index):
// CHECK:         loop.for 4 serial
// CHECK:           arith.addf
// CHECK:       loop.for 8 serial
te.kernel @alone(%x: tensor<9x4xf32>) -> tensor<8x4xf32> {
  %0 = te.compute "twice" axes [9, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<9x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<9x4xf32>
  %1 = te.extern "pairs"(%0) {
  ^bb0(%q: index, %in: memref<36xf32>, %from: index, %in0: index, %in1: index, %out: memref<32xf32>, %to: index, %out0: index, %out1: index):
    loop.for 4 serial {
    ^bb0(%j: index):
      %next = arith.addi %from, %in0 : index
      %p = arith.addi %from, %j : index
      %n = arith.addi %next, %j : index
      %a = loop.load %in[%p] : memref<36xf32> -> f32
      %b = loop.load %in[%n] : memref<36xf32> -> f32
      %c = arith.addf %a, %b : f32
      %t = arith.addi %to, %j : index
      loop.store %c, %out[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  } {axes = array<i64: 8>, parts = array<i64: 0, 1, 2, 0, 1, 1>} : (tensor<9x4xf32>) -> tensor<8x4xf32>
  %2 = te.compute "y" axes [8, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<8x4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<8x4xf32>
  te.return %2 : tensor<8x4xf32>
}

// -----

// In a loop of what reads it, the parts are computed that an iteration needs, of as much as these read; the last iteration has fewer.
// CHECK-LABEL: func.func private @in_blocks(
// CHECK:       loop.for 2 serial {
// CHECK-NEXT:  ^bb0(%[[IO:.*]]: index):
// CHECK:         loop.for 4 serial {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK-NEXT:      loop.for 4 serial
// CHECK:         loop.for 3 serial {
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: index):
// CHECK:           loop.for 4 serial
// CHECK:             arith.addf
// CHECK:         loop.for 3 serial
// CHECK:       loop.for 3 serial
// CHECK:       loop.for 2 serial
// CHECK:         arith.addf
te.kernel @in_blocks(%x: tensor<9x4xf32>) -> tensor<8x4xf32> {
  %0 = te.compute "twice" axes [9, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<9x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<9x4xf32>
  %1 = te.extern "pairs"(%0) {
  ^bb0(%q: index, %in: memref<36xf32>, %from: index, %in0: index, %in1: index, %out: memref<32xf32>, %to: index, %out0: index, %out1: index):
    loop.for 4 serial {
    ^bb0(%j: index):
      %next = arith.addi %from, %in0 : index
      %p = arith.addi %from, %j : index
      %n = arith.addi %next, %j : index
      %a = loop.load %in[%p] : memref<36xf32> -> f32
      %b = loop.load %in[%n] : memref<36xf32> -> f32
      %c = arith.addf %a, %b : f32
      %t = arith.addi %to, %j : index
      loop.store %c, %out[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  } {axes = array<i64: 8>, parts = array<i64: 0, 1, 2, 0, 1, 1>} : (tensor<9x4xf32>) -> tensor<8x4xf32>
  %2 = te.compute "y" axes [8, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<8x4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<8x4xf32>
  te.return %2 : tensor<8x4xf32>
}
te.schedule for @in_blocks {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 3
  %pairs = te.stage "pairs"
  te.compute_at %pairs, %io
  %twice = te.stage "twice"
  te.compute_at %twice, %io
}

// -----

// The parts may be computed at the same time.
// CHECK-LABEL: func.func private @parallel(
// CHECK:       loop.for 8 parallel
te.kernel @parallel(%x: tensor<9x4xf32>) -> tensor<8x4xf32> {
  %0 = te.compute "twice" axes [9, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<9x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<9x4xf32>
  %1 = te.extern "pairs"(%0) {
  ^bb0(%q: index, %in: memref<36xf32>, %from: index, %in0: index, %in1: index, %out: memref<32xf32>, %to: index, %out0: index, %out1: index):
    loop.for 4 serial {
    ^bb0(%j: index):
      %next = arith.addi %from, %in0 : index
      %p = arith.addi %from, %j : index
      %n = arith.addi %next, %j : index
      %a = loop.load %in[%p] : memref<36xf32> -> f32
      %b = loop.load %in[%n] : memref<36xf32> -> f32
      %c = arith.addf %a, %b : f32
      %t = arith.addi %to, %j : index
      loop.store %c, %out[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  } {axes = array<i64: 8>, parts = array<i64: 0, 1, 2, 0, 1, 1>} : (tensor<9x4xf32>) -> tensor<8x4xf32>
  %2 = te.compute "y" axes [8, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<8x4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<8x4xf32>
  te.return %2 : tensor<8x4xf32>
}
te.schedule for @parallel {
  %pairs = te.stage "pairs"
  %q = te.axes %pairs : !te.axis
  te.parallel %q
}
