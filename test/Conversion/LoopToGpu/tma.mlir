// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-pipeline,canonicalize,cse,loop-insert-barriers),func.func(loop-verify-gpu{shared-bytes=65536}))' --split-input-file | FileCheck %s

// One thread copies a step ahead. All wait for the mbarrier of a slot, and for each other before it is filled again.
// CHECK-LABEL: @ahead
// CHECK:         %[[F:.*]] = loop.alloc shared : memref<2xi64>
// CHECK:         loop.guard
// CHECK-NEXT:      loop.mbarrier_init %[[F]] of 1
// CHECK:         loop.for 64 thread_x
// CHECK:           %[[S:.*]] = loop.alloc shared slots 2 {loop.ahead} : memref<1024xf16>
// CHECK:           loop.barrier
// CHECK-NEXT:      loop.guard
// CHECK-NEXT:        loop.mbarrier_expect %[[F]][%{{.*}}] bytes 1024
// CHECK-NEXT:        loop.copy_tensor %{{.*}} of [64, 64] box [8, 64] to %[[S]][%{{.*}}] mbarriers %[[F]][%{{.*}}]
// CHECK-NOT:         loop.copy_tensor
// CHECK:           loop.for 8 serial
// CHECK:             loop.mbarrier_wait %[[F]][%{{.*}}] phase
// CHECK:             loop.barrier
// CHECK-NEXT:        loop.guard
// CHECK:               loop.mbarrier_expect
// CHECK:               loop.copy_tensor
// CHECK-NOT:         loop.barrier
// CHECK:             loop.load %[[S]]
// CHECK:           } {loop.ahead}
func.func @ahead(%x: memref<4096xf16>, %y: memref<512xf16>) attributes {loop.kernel} {
  loop.for 64 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 2 : memref<1024xf16>
    loop.for 8 serial {
    ^bb0(%k: index):
      %zero = arith.constant 0 : index
      %row = affine.apply affine_map<(d0) -> (d0 * 8)>(%k)
      %to = affine.apply affine_map<(d0) -> ((d0 mod 2) * 512)>(%k)
      loop.copy_tensor %x[%row, %zero] of [64, 64] box [8, 64] to %s[%to] : memref<4096xf16>, memref<1024xf16>
      %from = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 512 + d1)>(%k, %t)
      %v = loop.load %s[%from] : memref<1024xf16> -> f16
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%k, %t)
      loop.store %v, %y[%at] : f16, memref<512xf16>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Two groups of four warps multiply, a third copies. The only barrier is that behind the making of mbarriers.
// CHECK-LABEL: @divided
// CHECK:         loop.for 2 block_x
// CHECK-DAG:       %[[A:.*]] = loop.alloc shared slots 2 swizzled {loop.ahead} : memref<16384xf16>
// CHECK-DAG:       %[[B:.*]] = loop.alloc shared slots 2 swizzled {loop.ahead} : memref<8192xf16>
// CHECK:           loop.mbarrier_init %[[F:.*]] of 1 :
// CHECK:           loop.mbarrier_init %[[E:.*]] of 8 :
// CHECK:           loop.barrier
// CHECK-NOT:       loop.barrier
// CHECK:           loop.guard
// CHECK:             loop.guard
// CHECK:               loop.for 4 serial
// CHECK:                 loop.mbarrier_wait %[[E]][%{{.*}}] phase
// CHECK:                 loop.mbarrier_expect %[[F]][%{{.*}}] bytes 24576
// CHECK:                 loop.copy_tensor %{{.*}} box [128, 64] to %[[A]][%{{.*}}] mbarriers %[[F]]
// CHECK:                 loop.copy_tensor %{{.*}} box [64, 64] to %[[B]][%{{.*}}] mbarriers %[[F]]
// CHECK:           loop.for 2 thread_z
// CHECK:             loop.for 4 serial
// CHECK:               loop.mbarrier_wait %[[F]][%{{.*}}] phase
// CHECK-NOT:           loop.copy_tensor
// CHECK:               loop.multiply_shared
// CHECK:               loop.guard
// CHECK:                 loop.mbarrier_arrive %[[E]]
func.func @divided(%x: memref<65536xf16>, %w: memref<16384xf16>, %y: memref<16384xf32>) attributes {loop.kernel} {
  loop.for 2 block_x {
  ^bb0(%b: index):
    loop.for 2 thread_z {
    ^bb0(%z: index):
      %zero = arith.constant 0 : index
      %t = loop.thread_index 128 thread_x
      %none = arith.constant dense<0.0> : vector<32xf32>
      %sums = loop.alloc local : memref<32xf32>
      loop.store %none, %sums[%zero] : vector<32xf32>, memref<32xf32>
      %a = loop.alloc shared slots 2 swizzled : memref<16384xf16>
      %c = loop.alloc shared slots 2 swizzled : memref<8192xf16>
      loop.for 4 serial {
      ^bb0(%k: index):
        %row = affine.apply affine_map<(d0) -> (d0 * 128)>(%b)
        %deep = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
        %to_a = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8192)>(%k)
        %to_c = affine.apply affine_map<(d0) -> ((d0 mod 2) * 4096)>(%k)
        loop.copy_tensor %x[%row, %deep] of [256, 256] box [128, 64] to %a[%to_a] : memref<65536xf16>, memref<16384xf16>
        loop.copy_tensor %w[%zero, %deep] of [64, 256] box [64, 64] to %c[%to_c] : memref<16384xf16>, memref<8192xf16>
        %from = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 8192 + d1 * 4096)>(%k, %z)
        %old = loop.load %sums[%zero] : memref<32xf32> -> vector<32xf32>
        %new = loop.multiply_shared wgmma_m64n64k64_f16 %a[%from], %c[%to_c] apart %zero, %old
            : memref<16384xf16>, memref<8192xf16>, vector<32xf32>
        loop.store %new, %sums[%zero] : vector<32xf32>, memref<32xf32>
        loop.yield
      }
      %all = loop.load %sums[%zero] : memref<32xf32> -> vector<32xf32>
      %at = affine.apply affine_map<(d0, d1, d2) -> (d0 * 8192 + d1 * 4096 + d2 * 32)>(%b, %z, %t)
      loop.store %all, %y[%at] : vector<32xf32>, memref<16384xf32>
      loop.yield
    }
    loop.yield
  }
  return
}
