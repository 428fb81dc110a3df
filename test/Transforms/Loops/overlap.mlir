// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-overlap,canonicalize,cse))' | FileCheck %s

// Rows of 64 are kept and summed up, and stored beside the next row: the buffer has two slots, the sum is carried.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:      (%[[X:.*]]: memref<1024xf32>, %[[Y:.*]]: memref<1024xf32>, %[[Z:.*]]: f32)
// CHECK:         %[[E:.*]] = loop.alloc local : memref<512xi8>
// CHECK:         %[[E0:.*]] = memref.view %[[E]][%c0][]
// CHECK:         %[[S0:.*]] = loop.for 64 serial iter(%[[Z]] : f32)
// CHECK:           loop.store %{{.*}}, %[[E0]][
// CHECK:         %[[S:.*]] = loop.for 15 serial iter(%[[S0]] : f32) {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[BEFORE:.*]]: f32):
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK:           %[[M:.*]] = arith.remui %[[NEXT]], %c2
// CHECK:           %[[AT:.*]] = arith.muli %[[M]], %c256
// CHECK:           %[[AHEAD:.*]] = memref.view %[[E]][%[[AT]]][]
// CHECK:           %[[N:.*]] = arith.remui %[[I]], %c2
// CHECK:           %[[TO:.*]] = arith.muli %[[N]], %c256
// CHECK:           %[[BEHIND:.*]] = memref.view %[[E]][%[[TO]]][]
// CHECK:           %[[T:.*]] = loop.for 64 serial iter(%[[Z]] : f32) {
// CHECK-NEXT:      ^bb0(%[[K:.*]]: index, %[[A:.*]]: f32):
// CHECK:             %[[FROM:.*]] = affine.apply #[[ROW:.*]](%[[NEXT]], %[[K]])
// CHECK:             %[[V:.*]] = loop.load %[[X]][%[[FROM]]]
// CHECK:             loop.store %[[V]], %[[AHEAD]][%[[K]]]
// CHECK:             %[[B:.*]] = arith.addf %[[A]], %[[V]]
// CHECK:             %[[W:.*]] = loop.load %[[BEHIND]][%[[K]]]
// CHECK:             %[[Q:.*]] = arith.divf %[[W]], %[[BEFORE]]
// CHECK:             %[[HERE:.*]] = affine.apply #[[ROW]](%[[I]], %[[K]])
// CHECK:             loop.store %[[Q]], %[[Y]][%[[HERE]]]
// CHECK:             loop.yield %[[B]]
// CHECK:           loop.yield %[[T]]
// CHECK:         %[[E1:.*]] = memref.view %[[E]][%c256][]
// CHECK:         loop.for 64 serial {
// CHECK:           loop.load %[[E1]][
// CHECK:           arith.divf %{{.*}}, %[[S]]
// CHECK:           loop.store %{{.*}}, %[[Y]][
func.func @rows(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) {
  loop.for 16 serial {
  ^bb0(%i: index):
    %e = loop.alloc local : memref<64xf32>
    %s = loop.for 64 serial iter(%z : f32) {
    ^bb0(%k: index, %a: f32):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%i, %k)
      %v = loop.load %x[%at] : memref<1024xf32> -> f32
      loop.store %v, %e[%k] : f32, memref<64xf32>
      %b = arith.addf %a, %v : f32
      loop.yield %b : f32
    } -> f32
    loop.for 64 serial {
    ^bb0(%k: index):
      %v = loop.load %e[%k] : memref<64xf32> -> f32
      %q = arith.divf %v, %s : f32
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%i, %k)
      loop.store %q, %y[%at] : f32, memref<1024xf32>
      loop.yield
    }
    loop.yield
  } {annotations = {pipelined = 1 : i64}}
  return
}

// Not: what is stored is read for the next row.
// CHECK-LABEL: func.func @goes_on
// CHECK:         loop.for 16 serial
// CHECK:         } {annotations = {pipelined = 1 : i64}}
func.func @goes_on(%x: memref<1024xf32>, %z: f32) {
  loop.for 16 serial {
  ^bb0(%i: index):
    %s = loop.for 64 serial iter(%z : f32) {
    ^bb0(%k: index, %a: f32):
      %v = loop.load %x[%k] : memref<1024xf32> -> f32
      %b = arith.addf %a, %v : f32
      loop.yield %b : f32
    } -> f32
    loop.for 64 serial {
    ^bb0(%k: index):
      loop.store %s, %x[%k] : f32, memref<1024xf32>
      loop.yield
    }
    loop.yield
  } {annotations = {pipelined = 1 : i64}}
  return
}

// Not: the row lies in a buffer of all iterations.
// CHECK-LABEL: func.func @outside
// CHECK:         loop.for 16 serial
// CHECK:         } {annotations = {pipelined = 1 : i64}}
func.func @outside(%x: memref<1024xf32>, %y: memref<1024xf32>, %e: memref<64xf32>) {
  loop.for 16 serial {
  ^bb0(%i: index):
    loop.for 64 serial {
    ^bb0(%k: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%i, %k)
      %v = loop.load %x[%at] : memref<1024xf32> -> f32
      loop.store %v, %e[%k] : f32, memref<64xf32>
      loop.yield
    }
    loop.for 64 serial {
    ^bb0(%k: index):
      %v = loop.load %e[%k] : memref<64xf32> -> f32
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%i, %k)
      loop.store %v, %y[%at] : f32, memref<1024xf32>
      loop.yield
    }
    loop.yield
  } {annotations = {pipelined = 1 : i64}}
  return
}

// Not: the last loops have other numbers of iterations.
// CHECK-LABEL: func.func @longer
// CHECK:         loop.for 16 serial
// CHECK:           loop.for 64 serial
// CHECK:           loop.for 32 serial
func.func @longer(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) {
  loop.for 16 serial {
  ^bb0(%i: index):
    %s = loop.for 64 serial iter(%z : f32) {
    ^bb0(%k: index, %a: f32):
      %v = loop.load %x[%k] : memref<1024xf32> -> f32
      %b = arith.addf %a, %v : f32
      loop.yield %b : f32
    } -> f32
    loop.for 32 serial {
    ^bb0(%k: index):
      loop.store %s, %y[%k] : f32, memref<1024xf32>
      loop.yield
    }
    loop.yield
  } {annotations = {pipelined = 1 : i64}}
  return
}

// Not: no schedule says so.
// CHECK-LABEL: func.func @plain
// CHECK:         loop.for 16 serial
// CHECK-NOT:     loop.for 15
func.func @plain(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: f32) {
  loop.for 16 serial {
  ^bb0(%i: index):
    %s = loop.for 64 serial iter(%z : f32) {
    ^bb0(%k: index, %a: f32):
      %v = loop.load %x[%k] : memref<1024xf32> -> f32
      %b = arith.addf %a, %v : f32
      loop.yield %b : f32
    } -> f32
    loop.for 64 serial {
    ^bb0(%k: index):
      loop.store %s, %y[%k] : f32, memref<1024xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
