// RUN: fusion-opt %s --fusion-attach-target='name=amd:gfx942' --te-schedule --te-lower --fusion-amd-gfx942 | FileCheck %s

// CHECK:      v_mfma_f32_16x16x4_f32
// CHECK-SAME: .private_segment_fixed_size: 0
te.kernel @k(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>) -> tensor<128x128xf32> {
  %0 = te.compute "y" axes [128, 128] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x64xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<64x128xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x128xf32>
  te.return %0 : tensor<128x128xf32>
}
