// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-stream))' | FileCheck %s

// Vectors that begin at a multiple of their length, as the index says.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     loop.streamed
// CHECK:         loop.store %{{.*}}, %arg1[%{{.*}}] {stream} : vector<16xf32>, memref<1024xf32>
func.func @whole(%v: vector<16xf32>, %y: memref<1024xf32> {loop.streamed = true}) {
  loop.for 64 serial {
  ^bb0(%i: index):
    %at = affine.apply affine_map<(d0) -> (d0 * 16)>(%i)
    loop.store %v, %y[%at] : vector<16xf32>, memref<1024xf32>
    loop.yield
  }
  return
}

// Eight floats are a vector of 32 bytes.
// CHECK-LABEL: func.func @half
// CHECK:         {stream} : vector<8xf32>
func.func @half(%v: vector<8xf32>, %y: memref<1024xf32> {loop.streamed = true}, %i: index) {
  %at = affine.apply affine_map<(d0) -> (d0 * 24 + 8)>(%i)
  loop.store %v, %y[%at] : vector<8xf32>, memref<1024xf32>
  return
}

// Not: vectors that may begin anywhere, elements, what is not to be stored so.
// CHECK-LABEL: func.func @none
// CHECK-NOT:     stream}
func.func @none(%v: vector<16xf32>, %x: f32, %y: memref<1024xf32> {loop.streamed = true}, %z: memref<1024xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %at = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
  loop.store %v, %y[%at] : vector<16xf32>, memref<1024xf32>
  loop.store %v, %y[%i] : vector<16xf32>, memref<1024xf32>
  loop.store %x, %y[%c0] : f32, memref<1024xf32>
  loop.store %v, %z[%c0] : vector<16xf32>, memref<1024xf32>
  return
}
