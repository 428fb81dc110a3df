// RUN: fusion-opt %s --fusion-attach-target=name=amd:gfx942 --relay-optimize --convert-relay-to-te --te-schedule --te-lower --fusion-amd-gfx942 | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=amd:gfx950 --relay-optimize --convert-relay-to-te --te-schedule --te-lower --fusion-amd-gfx950 | FileCheck %s --check-prefix=DEEP
// RUN: fusion-opt %s --fusion-attach-target=name=amd:gfx1201 --relay-optimize --convert-relay-to-te --te-schedule --te-lower --fusion-amd-gfx1201 | FileCheck %s --check-prefix=HALVES

// Both products by matrix instructions, nothing that a thread keeps in memory.
// CHECK:     v_mfma_f32_16x16x16_f16
// CHECK:     v_mfma_f32_16x16x16_f16
// CHECK:     private_segment_fixed_size: 0
// DEEP:      v_mfma_f32_16x16x32_f16
// DEEP:      v_mfma_f32_16x16x32_f16
// DEEP:      private_segment_fixed_size: 0
// HALVES:    v_wmma_f32_16x16x16_f16
// HALVES:    v_wmma_f32_16x16x16_f16
// HALVES:    private_segment_fixed_size: 0
func.func @main(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %0 = relay.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16>
  return %0 : tensor<8x512x64xf16>
}
