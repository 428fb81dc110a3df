// RUN: fusion-opt %s --fusion-nvidia-sm_80 | FileCheck %s

// No library is called.
// CHECK:      gpu.module @functions_gpu
// CHECK-NOT:  __nv_
// CHECK-SAME: ex2.approx.f32
// CHECK-SAME: cvt.rmi.f32.f32
// CHECK-SAME: sqrt.rn.f32
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
