// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx90a' --te-schedule --te-lower --fusion-amd-gfx90a | FileCheck %s --check-prefix=MFMA
// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx942' --te-schedule --te-lower --fusion-amd-gfx942 | FileCheck %s --check-prefix=MFMA
// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx1100' --te-schedule --te-lower --fusion-amd-gfx1100 | FileCheck %s --check-prefix=WMMA
// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx950' --te-schedule --te-lower --fusion-amd-gfx950 | FileCheck %s --check-prefix=DEEP
// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx1201' --te-schedule --te-lower --fusion-amd-gfx1201 | FileCheck %s --check-prefix=HALVES

// The sums are registers: nothing is in a thread's own memory.
// MFMA:      v_mfma_f32_16x16x16
// MFMA-SAME: .private_segment_fixed_size: 0
// WMMA:      v_wmma_f32_16x16x16_f16
// WMMA-SAME: .private_segment_fixed_size: 0
// DEEP:      v_mfma_f32_16x16x32_f16
// DEEP-SAME: .private_segment_fixed_size: 0
// HALVES:      ds_load_b128
// HALVES-SAME: v_wmma_f32_16x16x16_f16
// HALVES-SAME: .private_segment_fixed_size: 0
te.kernel @k(%x: tensor<128x64xf16>, %w: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %0 = te.compute "y" axes [128, 128] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x64xf16> -> f16
    %wide_a = arith.extf %a : f16 to f32
    %b = te.load %w[%k, %j] : tensor<64x128xf16> -> f16
    %wide_b = arith.extf %b : f16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x128xf32>
  te.return %0 : tensor<128x128xf32>
}
