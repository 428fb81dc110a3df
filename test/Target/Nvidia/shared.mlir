// RUN: fusion-opt %s --fusion-nvidia-sm_80 | FileCheck %s

// CHECK:      gpu.module @turn_gpu
// CHECK-SAME: .shared .align
// CHECK-SAME: st.shared.b32
// CHECK-SAME: bar.sync
// CHECK-SAME: ld.shared.b32
func.func @turn(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<256xf32>
  loop.for 256 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<256xf32> -> f32
    loop.store %a, %s[%t] : f32, memref<256xf32>
    %m = affine.apply affine_map<(d0) -> (255 - d0)>(%t)
    %b = loop.load %s[%m] : memref<256xf32> -> f32
    loop.store %b, %y[%t] : f32, memref<256xf32>
    loop.yield
  }
  return
}
