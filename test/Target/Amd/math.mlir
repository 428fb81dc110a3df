// RUN: fusion-opt %s --fusion-amd-gfx942 | FileCheck %s

// No library is called.
// CHECK:      gpu.module @functions_gpu
// CHECK-NOT:  __ocml_
// CHECK-SAME: v_exp_f32
// CHECK-SAME: v_floor_f32
// CHECK-SAME: v_sqrt_f32
func.func @functions(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  loop.for 256 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<256xf32> -> f32
    %b = math.exp %a : f32
    %c = math.floor %b : f32
    %d = math.sqrt %c : f32
    loop.store %d, %y[%t] : f32, memref<256xf32>
    loop.yield
  }
  return
}
