// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_90a --relay-optimize --convert-relay-to-te --te-schedule --te-lower --fusion-nvidia-sm_90a | FileCheck %s

// Keys and values of the next 64 keys are on their way while the scores of these are computed; queries are copied once, before.
// CHECK:     .minnctapersm 2
// CHECK-NOT: .local
// CHECK:     cp.async.cg.shared.global
// CHECK:     cp.async.commit_group
// CHECK:     cp.async.wait_group
// CHECK:     bar.sync
// CHECK:     cp.async.cg.shared.global
// CHECK:     cp.async.commit_group
// CHECK:     ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK:     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: .local
func.func @main(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %0 = relay.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16>
  return %0 : tensor<8x512x64xf16>
}
