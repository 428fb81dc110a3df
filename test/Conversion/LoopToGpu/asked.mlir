// RUN: fusion-opt %s --convert-loop-to-gpu=static-bytes=49152 | FileCheck %s
// RUN: fusion-opt %s --convert-loop-to-gpu=static-bytes=65536 | FileCheck %s --check-prefix=FIXED
// RUN: fusion-opt %s --fusion-nvidia-sm_80 | FileCheck %s --check-prefix=PTX

// A block of 64 KiB: more than a block can share unless the launch asks for it.
// CHECK-LABEL: gpu.func @k_0
// CHECK-NOT:     workgroup(
// CHECK:         %[[ALL:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK:         memref.view %[[ALL]]
// CHECK:         memref.view %[[ALL]]
// CHECK:       shared = 0 : i64, shared_asked = 65536 : i64
// FIXED-LABEL: gpu.func @k_0
// FIXED-SAME:    workgroup(
// FIXED:       shared = 65536 : i64}
// PTX:         .extern .shared .align 1024
// PTX-SAME:    st.shared
func.func @k(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<8192xf32>
  %u = loop.alloc shared : memref<8192xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %m = affine.apply affine_map<(d0) -> (31 - d0)>(%t)
    %a = loop.load %x[%t] : memref<256xf32> -> f32
    loop.store %a, %s[%t] : f32, memref<8192xf32>
    loop.store %a, %u[%t] : f32, memref<8192xf32>
    %b = loop.load %s[%m] : memref<8192xf32> -> f32
    %c = loop.load %u[%m] : memref<8192xf32> -> f32
    %d = arith.addf %b, %c : f32
    loop.store %d, %y[%t] : f32, memref<256xf32>
    loop.yield
  }
  return
}
