// RUN: fusion-opt %s --fusion-amd-gfx942 | FileCheck %s

// 16 bytes a thread, one step ahead in registers.
// CHECK:      gpu.module @staged_gpu
// CHECK-SAME: global_load_dwordx4
// CHECK-SAME: ds_write_b128
// CHECK-SAME: ds_read_b32
// CHECK-SAME: ds_write_b128
func.func @staged(%x: memref<4096xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 3 : memref<384xf32>
    %r = loop.for 32 serial iter(%zero : f32) {
    ^bb0(%k: index, %sum: f32):
      loop.for 32 thread_x {
      ^bb0(%u: index):
        loop.for 4 vectorized {
        ^bb0(%l: index):
          %i = affine.apply affine_map<(d0, d1, d2) -> (d0 * 128 + d1 * 4 + d2)>(%k, %u, %l)
          %a = loop.load %x[%i] : memref<4096xf32> -> f32
          %j = affine.apply affine_map<(d0, d1, d2) -> ((d0 mod 3) * 128 + d1 * 4 + d2)>(%k, %u, %l)
          loop.store %a, %s[%j] : f32, memref<384xf32>
          loop.yield
        }
        loop.yield
      }
      %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 128 - d1 + 31)>(%k, %t)
      %b = loop.load %s[%m] : memref<384xf32> -> f32
      %next = arith.addf %sum, %b : f32
      loop.yield %next : f32
    } -> f32
    loop.store %r, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}
