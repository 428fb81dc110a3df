// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-vectorize,loop-unroll,canonicalize,cse))' | FileCheck %s

// Masked accesses jam as others do: one loop, two sums.
// CHECK-LABEL: func.func @padded
// CHECK:         %[[SUM:.*]]:2 = loop.for 3 serial
// CHECK:           loop.load %arg1[%{{.*}}] : memref<3xf32> -> f32
// CHECK-NOT:       loop.load
// CHECK:           vector.maskedload
// CHECK-NOT:       loop.load
// CHECK:           vector.maskedload
// CHECK-NOT:       loop.load
// CHECK:           loop.yield
// CHECK:         loop.store %[[SUM]]#0
// CHECK:         loop.store %[[SUM]]#1
func.func @padded(%a: memref<32xf32>, %b: memref<3xf32>, %out: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %hi = arith.constant 32 : index
  loop.for 2 unrolled {
  ^bb0(%i: index):
    loop.for 16 vectorized {
    ^bb0(%v: index):
      %sum = loop.for 3 serial iter(%zero : f32) {
      ^bb0(%k: index, %acc: f32):
        %at = affine.apply affine_map<(d0, d1, d2) -> (d0 * 16 + d1 + d2)>(%i, %v, %k)
        %in = arith.cmpi slt, %at, %hi : index
        %x = loop.guard %in else (%zero : f32) {
          %l = loop.load %a[%at] : memref<32xf32> -> f32
          loop.yield %l : f32
        } -> f32
        %w = loop.load %b[%k] : memref<3xf32> -> f32
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %acc, %p : f32
        loop.yield %s : f32
      } -> f32
      %o = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %v)
      loop.store %sum, %out[%o] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
