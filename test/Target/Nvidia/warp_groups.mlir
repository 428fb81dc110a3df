// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_90a --te-schedule --te-lower --fusion-nvidia-sm_90a --split-input-file | FileCheck %s

// A tile of 128 x 256 by two groups of four warps, in steps of 64, four slots: 64 x 256 of a group are one instruction, four times 16 deep.
// A third group copies, by TMA in boxes of 64 columns, and leaves registers to the others. Mbarriers tell of full and of empty slots; the only
// barrier is that behind their making. Sums are registers.
// CHECK:     .extern .shared .align 1024
// CHECK:     .param .align 64 .b8 k_0_param_3[128]
// CHECK:     .maxntid 128, 1, 3
// CHECK:     .minnctapersm 1
// CHECK-NOT: .local
// CHECK:     mbarrier.init.shared.b64
// CHECK:     fence.mbarrier_init.release.cluster
// CHECK:     bar.sync
// CHECK-NOT: bar.sync
// CHECK:     setmaxnreg.dec.sync.aligned.u32 \0924
// CHECK:     mbarrier.try_wait.parity.shared.b64
// CHECK:     mbarrier.arrive.expect_tx.shared.b64
// CHECK-COUNT-5: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK-NOT: cp.async
// CHECK:     setmaxnreg.inc.sync.aligned.u32 \09240
// CHECK:     mbarrier.try_wait.parity.shared.b64
// CHECK:     wgmma.fence.sync.aligned
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK:     wgmma.commit_group.sync.aligned
// CHECK-NOT: mov.b32
// CHECK:     wgmma.wait_group.sync.aligned 0
// CHECK:     mbarrier.arrive.shared.b64
// CHECK-NOT: bar.sync
// CHECK-NOT: .local
// CHECK:     ret;
te.kernel @k(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf32> {
  %0 = te.compute "y" axes [4096, 4096] reduce [4096] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4096x4096xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<4096x4096xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<4096x4096xf32>
  te.return %0 : tensor<4096x4096xf32>
}

// -----

// Rows of 4100 elements begin at multiples of 8 bytes, and so many are copied at a time while others are multiplied.
// CHECK-NOT: cp.async.bulk
// CHECK:     cp.async.ca.shared.global [%{{[^]]*}}], [%{{[^]]*}}], 8, 8;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-SAME: cp.async.wait_group
te.kernel @k(%x: tensor<4096x4100xf16>, %w: tensor<4100x4096xf16>) -> tensor<4096x4096xf32> {
  %0 = te.compute "y" axes [4096, 4096] reduce [4100] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4096x4100xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<4100x4096xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<4096x4096xf32>
  te.return %0 : tensor<4096x4096xf32>
}

// -----

// Rows of 4101 elements do not begin at multiples of 4 bytes, so that all threads copy, an element at a time. What they copied is shown to
// the instruction before the barrier.
// CHECK-NOT: cp.async.bulk
// CHECK:     wgmma.fence.sync.aligned
// CHECK:     wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK:     wgmma.wait_group.sync.aligned 0
// CHECK:     fence.proxy.async.shared::cta
// CHECK-SAME: bar.sync
// CHECK-SAME: st.shared.b16
te.kernel @k(%x: tensor<4096x4101xf16>, %w: tensor<4101x4096xf16>) -> tensor<4096x4096xf32> {
  %0 = te.compute "y" axes [4096, 4096] reduce [4101] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4096x4101xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<4101x4096xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<4096x4096xf32>
  te.return %0 : tensor<4096x4096xf32>
}
