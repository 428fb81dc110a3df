// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_80' --te-schedule --te-lower --fusion-nvidia-sm_80 | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_89' --te-schedule --te-lower --fusion-nvidia-sm_89 | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_120' --te-schedule --te-lower --fusion-nvidia-sm_120 | FileCheck %s

// CHECK-NOT: .local
// CHECK:     mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: .local
te.kernel @bbf16(%x: tensor<128x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<128x128xf32> {
  %0 = te.compute "y" axes [128, 128] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<128x64xbf16> -> bf16
    %wide_a = arith.extf %a : bf16 to f32
    %b = te.load %w[%k, %j] : tensor<64x128xbf16> -> bf16
    %wide_b = arith.extf %b : bf16 to f32
    %c = arith.mulf %wide_a, %wide_b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<128x128xf32>
  te.return %0 : tensor<128x128xf32>
}
