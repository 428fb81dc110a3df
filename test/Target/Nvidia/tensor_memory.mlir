// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_100a --te-schedule --te-lower --fusion-nvidia-sm_100a | FileCheck %s

// Sums stay in tensor memory for all steps: they are put there before the loop, and come behind it. One thread
// of a group multiplies, all wait for its mbarrier. The third group copies, as for wgmma.
// CHECK:     .maxntid 128, 1, 3
// CHECK-NOT: .local
// CHECK:     tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32
// CHECK:     tcgen05.relinquish_alloc_permit
// CHECK:     mbarrier.init.shared.b64
// CHECK:     bar.sync
// CHECK:     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK:     tcgen05.st.sync.aligned.32x32b.x128.b32
// CHECK:     tcgen05.wait::st
// CHECK:     bar.sync {{.*}}, 128
// CHECK-NOT: tcgen05.ld
// CHECK:     mbarrier.try_wait.parity.shared.b64
// CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::f16
// CHECK-NOT: tcgen05.mma
// CHECK:     tcgen05.commit.cta_group::1.mbarrier::arrive::one
// CHECK:     mbarrier.try_wait.parity.shared.b64
// CHECK:     tcgen05.ld.sync.aligned.32x32b.x128.b32
// CHECK-NOT: st.global
// CHECK:     tcgen05.wait::ld
// CHECK:     st.global
// CHECK:     tcgen05.dealloc
// CHECK-NOT: .local
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
