// RUN: fusion-opt %s --fusion-nvidia-sm_80 | FileCheck %s
// RUN: fusion-opt %s --fusion-nvidia-sm_90a | FileCheck %s --check-prefix=HOPPER
// RUN: fusion-opt %s --fusion-nvidia-sm_89 | FileCheck %s --check-prefix=ADA
// RUN: fusion-opt %s --fusion-nvidia-sm_100a | FileCheck %s --check-prefix=BLACKWELL
// RUN: fusion-opt %s --fusion-nvidia-sm_120 | FileCheck %s --check-prefix=CONSUMER

// A thread reads and writes 16 bytes at once. The size of a block is known to the assembler.
// CHECK:      gpu.module @add_gpu
// CHECK-SAME: .target sm_80
// CHECK-SAME: .entry add_0
// CHECK-SAME: .maxntid 256
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: add.rn.f32
// CHECK-SAME: st.global.v4.b32
// HOPPER:      gpu.module @add_gpu
// HOPPER-SAME: .target sm_90a
// HOPPER-SAME: ld.global.v4.b32
// Of the oldest version that has the GPU.
// ADA:            .version 7.8
// ADA-SAME:       .target sm_89
// BLACKWELL:      .version 8.6
// BLACKWELL-SAME: .target sm_100a
// CONSUMER:       .version 8.7
// CONSUMER-SAME:  .target sm_120
func.func @add(%x: memref<4096xf32>, %y: memref<4096xf32>) attributes {loop.kernel} {
  loop.for 4 block_x {
  ^bb0(%b: index):
    loop.for 256 thread_x {
    ^bb0(%t: index):
      loop.for 4 vectorized {
      ^bb0(%l: index):
        %i = affine.apply affine_map<(d0, d1, d2) -> (d0 * 1024 + d1 * 4 + d2)>(%b, %t, %l)
        %a = loop.load %x[%i] : memref<4096xf32> -> f32
        %r = arith.addf %a, %a : f32
        loop.store %r, %y[%i] : f32, memref<4096xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}
