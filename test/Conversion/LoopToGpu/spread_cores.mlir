// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-spread{cores=8}))' --split-input-file | FileCheck %s

// Little to do is for all cores, in blocks of a warp or two.
// CHECK-LABEL: @little
// CHECK:       loop.for 7 block_x
// CHECK:         loop.for 64 thread_x
func.func @little(%x: memref<400xf32>, %y: memref<400xf32>) attributes {loop.kernel} {
  loop.for 400 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<400xf32> -> f32
    loop.store %a, %y[%i] : f32, memref<400xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}

// -----

// Where there is enough for all of them, blocks are as large as they can be.
// CHECK-LABEL: @enough
// CHECK:       loop.for 32 block_x
// CHECK:         loop.for 256 thread_x
func.func @enough(%x: memref<8192xf32>, %y: memref<8192xf32>) attributes {loop.kernel} {
  loop.for 8192 serial {
  ^bb0(%i: index):
    %a = loop.load %x[%i] : memref<8192xf32> -> f32
    loop.store %a, %y[%i] : f32, memref<8192xf32>
    loop.yield
  } {annotations = {independent = 1 : i64}}
  return
}
