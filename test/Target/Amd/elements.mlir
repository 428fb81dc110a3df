// RUN: fusion-opt %s --fusion-amd-gfx942 | FileCheck %s --check-prefixes=ALL,CDNA
// RUN: fusion-opt %s --fusion-amd-gfx90a | FileCheck %s --check-prefixes=ALL,CDNA
// RUN: fusion-opt %s --fusion-amd-gfx950 | FileCheck %s --check-prefixes=ALL,CDNA
// RUN: fusion-opt %s --fusion-amd-gfx1100 | FileCheck %s --check-prefixes=ALL,RDNA
// RUN: fusion-opt %s --fusion-amd-gfx1201 | FileCheck %s --check-prefixes=ALL,RDNA

// A thread reads and writes 16 bytes at once.
// ALL:       gpu.module @add_gpu
// ALL-SAME:  add_0:
// CDNA-SAME: global_load_dwordx4
// CDNA-SAME: v_pk_add_f32
// CDNA-SAME: global_store_dwordx4
// RDNA-SAME: global_load_b128
// RDNA-SAME: v_dual_add_f32
// RDNA-SAME: global_store_b128
// ALL-SAME:  .max_flat_workgroup_size: 256
// ALL-SAME:  .vgpr_spill_count: 0
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
