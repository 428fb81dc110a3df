// RUN: fusion-opt %s --fusion-amd-gfx942 | FileCheck %s --check-prefixes=ALL,CDNA
// RUN: fusion-opt %s --fusion-amd-gfx1100 | FileCheck %s --check-prefixes=ALL,RDNA

// ALL:       gpu.module @turn_gpu
// CDNA-SAME: ds_write_b32
// RDNA-SAME: ds_store_b32
// ALL-SAME:  s_barrier
// CDNA-SAME: ds_read_b32
// RDNA-SAME: ds_load_b32
// ALL-SAME:  .group_segment_fixed_size: 1024
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
