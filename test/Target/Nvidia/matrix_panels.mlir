// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_100a --te-schedule --te-lower --fusion-nvidia-sm_100a | FileCheck %s

// Operands come by TMA, which ldmatrix reads swizzled; one thread asks for them, all wait for the mbarrier.
// Sums are registers.
// CHECK:     .target sm_100a
// CHECK:     .param .align 64 .b8 k_0_param_3[128]
// CHECK-NOT: .local
// CHECK:     mbarrier.arrive.expect_tx.shared.b64
// CHECK:     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK:     ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK:     ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK:     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:     mbarrier.try_wait.parity.shared.b64
// CHECK:     bar.sync
// CHECK:     mbarrier.arrive.expect_tx.shared.b64
// CHECK-NOT: wgmma
// CHECK-NOT: .local
// CHECK:     ret;
te.kernel @k(%x: tensor<128x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<128x4096xf32> {
  %0 = te.compute "y" axes [128, 4096] reduce [1024] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x1024xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<1024x4096xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x4096xf32>
  te.return %0 : tensor<128x4096xf32>
}
