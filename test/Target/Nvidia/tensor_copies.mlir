// RUN: fusion-opt %s --fusion-nvidia-sm_90a | FileCheck %s

// One thread copies ahead, all wait for the mbarrier, and a barrier stands before a slot is filled again. Maps come behind the pointers.
// CHECK:     .param .u64 .ptr .align 16 ahead_0_param_1
// CHECK:     .param .align 64 .b8 ahead_0_param_2[128]
// CHECK-NOT: .minnctapersm
// CHECK:     .shared .align 128
// CHECK:     mbarrier.init.shared.b64
// CHECK:     fence.mbarrier_init.release.cluster
// CHECK:     bar.sync
// CHECK:     mbarrier.arrive.expect_tx.shared.b64
// CHECK:     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK:     mbarrier.arrive.expect_tx.shared.b64
// CHECK:     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK:     ld.shared.b16
// CHECK-NOT: bar.sync
// CHECK:     mbarrier.try_wait.parity.shared.b64
// CHECK:     bar.sync
// CHECK-NOT: bar.sync
// CHECK:     ret;
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
