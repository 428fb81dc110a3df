// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(loop-outline-parallel)' | FileCheck %s --check-prefix=OUTLINE

// CHECK-LABEL: func.func @sum(
// CHECK:         scf.for %{{.*}} = %{{.*}} to %arg1 step %{{.*}} iter_args(
func.func @sum(%x: memref<64xf32>, %n: index, %y: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %s = loop.upto %n serial iter(%zero : f32) {
  ^bb0(%i: index, %a: f32):
    %v = loop.load %x[%i] : memref<64xf32> -> f32
    %b = arith.addf %a, %v : f32
    loop.yield %b : f32
  } -> f32
  loop.store %s, %y[%first] : f32, memref<1xf32>
  return
}

// How many iterations there are is passed on to who shares them.
// OUTLINE-LABEL: func.func @fill(
// OUTLINE:         call @fill_parallel_0(%arg1, %arg0
func.func @fill(%x: memref<64xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  loop.upto %n parallel {
  ^bb0(%i: index):
    loop.store %one, %x[%i] : f32, memref<64xf32>
    loop.yield
  }
  return
}
