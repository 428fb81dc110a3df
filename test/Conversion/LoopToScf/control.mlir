// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' | FileCheck %s

// CHECK-LABEL: func.func @loops
// CHECK:         scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) step (%{{.*}}) {
// CHECK:           %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %arg1) -> (f32) {
// CHECK:             %[[X:.*]] = memref.load %arg0[%[[K]]]
// CHECK:             %[[S:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK:             scf.yield %[[S]]
// CHECK:           memref.store %[[SUM]], %arg0[%[[I]]]
// CHECK:           scf.reduce
func.func @loops(%b: memref<8xf32>, %z: f32) {
  loop.for 4 parallel {
  ^bb0(%i: index):
    %sum = loop.for 8 serial iter(%z : f32) {
    ^bb0(%k: index, %acc: f32):
      %x = loop.load %b[%k] : memref<8xf32> -> f32
      %s = arith.addf %acc, %x : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %b[%i] : f32, memref<8xf32>
    loop.yield
  }
  return
}

// CHECK-LABEL: func.func @guards
// CHECK:         %[[R:.*]] = scf.if %arg0 -> (f32) {
// CHECK:           scf.yield %arg2
// CHECK:         } else {
// CHECK:           scf.yield %arg1
// CHECK:         scf.if %arg0 {
// CHECK-NOT:     else
// CHECK:         return %[[R]]
func.func @guards(%c: i1, %z: f32, %x: f32, %b: memref<8xf32>, %i: index) -> f32 {
  %r = loop.guard %c else(%z : f32) {
    loop.yield %x : f32
  } -> f32
  loop.guard %c {
    loop.store %x, %b[%i] : f32, memref<8xf32>
    loop.yield
  }
  return %r : f32
}

// Nothing to do.
// CHECK-LABEL: func.func @none
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    return
func.func @none(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}

// What is kept on a loop stays; virtual threads take turns.
// CHECK-LABEL: func.func @annotated
// CHECK:         scf.for
// CHECK:         } {annotations = {hint = 4 : i64}}
func.func @annotated(%x: memref<4xf32>) {
  %z = arith.constant 0.0 : f32
  loop.for 4 virtual_thread {
  ^bb0(%i: index):
    loop.store %z, %x[%i] : f32, memref<4xf32>
    loop.yield
  } {annotations = {hint = 4 : i64}}
  return
}
