// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_90a --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// 192 tiles of 128 x 256 for 132 cores: those of the first 11 columns of tiles, 132, are computed whole, the other 60 are cut up.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         %[[REST:.*]] = te.divide %{{.*}} at 2816 as "rest_of_[[HOST:.*]]"
// CHECK-NEXT:    %[[SUM:.*]] = te.stage "matmul"
// CHECK-NEXT:    %[[OTHER:.*]] = te.recompute %[[SUM]] as "rest_of_matmul" for %[[REST]]
// CHECK:         te.bulk_copy
// CHECK:         te.tensorize %{{.*}} with @wgmma_m64n256k64_f16_rows
// CHECK:         te.rfactor %{{.*}} as "parts_of_rest_of_matmul"
// CHECK:         te.bulk_copy
// CHECK:         te.tensorize %{{.*}} with @wgmma_m64n256k64_f16_rows
// CHECK:         te.compute_at %[[OTHER]]
func.func @main(%x: tensor<1536x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1536x4096xf16> {
  %0 = relay.matmul %x, %w : (tensor<1536x4096xf16>, tensor<4096x4096xf16>) -> tensor<1536x4096xf16>
  return %0 : tensor<1536x4096xf16>
}

// -----

// Waves that are nearly full: nothing is cut up.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK-NOT:     te.divide
// CHECK-NOT:     te.rfactor
// CHECK:         te.tensorize
func.func @main(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = relay.matmul %x, %w : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}

// -----

// Fewer tiles than cores: each is cut up (split-K).
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK-NOT:     te.divide
// CHECK:         te.rfactor
func.func @main(%x: tensor<256x8192xf16>, %w: tensor<8192x256xf16>) -> tensor<256x256xf16> {
  %0 = relay.matmul %x, %w : (tensor<256x8192xf16>, tensor<8192x256xf16>) -> tensor<256x256xf16>
  return %0 : tensor<256x256xf16>
}
