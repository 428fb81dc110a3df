// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_90a --te-schedule --te-lower --fusion-nvidia-sm_90a | FileCheck %s

// A tile of 128 x 256 by two groups of four warps, in steps of 64, copied two steps ahead: 64 x 256 of a group are one instruction, four times
// 16 deep. What is copied is shown to the instruction before the barrier; sums are registers.
// CHECK:     .extern .shared .align 1024
// CHECK-NOT: .local
// CHECK:     cp.async.cg.shared.global
// CHECK-NOT: .local
// CHECK:     wgmma.fence.sync.aligned
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK:     wgmma.commit_group.sync.aligned
// CHECK-NOT: mov.b32
// CHECK:     wgmma.wait_group.sync.aligned 0
// CHECK:     cp.async.wait_group
// CHECK:     fence.proxy.async.shared::cta
// CHECK:     bar.sync
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
