// RUN: fusion-opt %s --fusion-attach-target=name=amd:gfx942 --te-schedule --te-lower --fusion-amd-gfx942 | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=amd:gfx950 --te-schedule --te-lower --fusion-amd-gfx950 | FileCheck %s --check-prefix=DEEP

// Tiles of 64 x 64 of a wave are four products of 32 x 32; sums are registers.
// CHECK:     v_mfma_f32_32x32x8_f16
// CHECK-NOT: scratch_store
// CHECK:     private_segment_fixed_size: 0
// DEEP:      v_mfma_f32_32x32x16_f16
// DEEP-NOT:  scratch_store
// DEEP:      private_segment_fixed_size: 0
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
