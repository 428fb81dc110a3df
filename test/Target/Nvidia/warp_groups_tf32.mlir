// RUN: fusion-opt %s --fusion-nvidia-sm_90a | FileCheck %s

// 32 products of tf32 are a line of 128 bytes: four instructions, each 32 bytes further.
// CHECK-NOT: .local
// CHECK:     wgmma.fence.sync.aligned
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// CHECK:     wgmma.wait_group.sync.aligned 0
// CHECK-NOT: .local
func.func @k(%y: memref<4096xf32>) attributes {loop.kernel} {
  loop.for 128 thread_x {
  ^bb0(%t: index):
    %zero = arith.constant 0 : index
    %half = arith.constant 2048 : index
    %none = arith.constant dense<0.0> : vector<32xf32>
    %s = loop.alloc shared swizzled : memref<4096xf32>
    loop.for 32 serial {
    ^bb0(%i: index):
      %one = arith.constant 1.0 : f32
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%i, %t)
      loop.store %one, %s[%at] : f32, memref<4096xf32>
      loop.yield
    }
    %d = loop.multiply_shared wgmma_m64n64k32_tf32 %s[%zero], %s[%half] apart %zero, %none : memref<4096xf32>, memref<4096xf32>, vector<32xf32>
    %at = affine.apply affine_map<(d0) -> (d0 * 32)>(%t)
    loop.store %d, %y[%at] : vector<32xf32>, memref<4096xf32>
    loop.yield
  }
  return
}
