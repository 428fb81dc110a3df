// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-share))' --split-input-file | FileCheck %s

// Threads share a nest whose outermost loop is independent and takes long.
// CHECK-LABEL: func.func private @lines(
// CHECK:         loop.for 64 parallel
// CHECK:           loop.for 5000 serial
func.func private @lines(%x: memref<320000xf32>, %y: memref<64xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 64 serial {
  ^bb0(%i: index):
    %sum = loop.for 5000 serial iter(%zero : f32) {
    ^bb0(%j: index, %so_far: f32):
      %at = affine.apply affine_map<(i, j) -> (i * 5000 + j)>(%i, %j)
      %a = loop.load %x[%at] : memref<320000xf32> -> f32
      %s = arith.addf %so_far, %a : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %y[%i] : f32, memref<64xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}

// -----

// Iterations that nobody called independent stay one after the other, and so does little work.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     parallel
func.func private @others(%x: memref<320000xf32>, %y: memref<64xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 64 serial {
  ^bb0(%i: index):
    loop.for 5000 serial {
    ^bb0(%j: index):
      %at = affine.apply affine_map<(i, j) -> (i * 5000 + j)>(%i, %j)
      %a = loop.load %x[%at] : memref<320000xf32> -> f32
      %old = loop.load %y[%i] : memref<64xf32> -> f32
      %s = arith.addf %old, %a : f32
      loop.store %s, %y[%i] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  loop.for 64 serial {
  ^bb0(%i: index):
    loop.store %zero, %y[%i] : f32, memref<64xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}
