// RUN: fusion-opt %s --fusion-attach-target=name=znver5 --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=znver5 --relay-optimize=off=halves --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --split-input-file | FileCheck %s --check-prefix=OFF

// Seven products of quarters, the sums of each side in one kernel, and those behind in a product and in one that joins them.
// CHECK-LABEL: func.func @large
// CHECK-NEXT:    {{.*}} call @fused_slice{{.*}}sub{{.*}} : (tensor<512x512xf32>) -> (tensor<256x256xf32>,
// CHECK-NEXT:    {{.*}} call @fused_slice{{.*}}sub{{.*}} : (tensor<512x512xf32>) -> (tensor<256x256xf32>,
// CHECK-COUNT-7: call @fused_matmul{{.*}} -> tensor<256x256xf32>
// CHECK-NEXT:    {{.*}} call @fused_{{.*}}concat{{.*}} -> tensor<512x512xf32>
// CHECK-NEXT:    return
// OFF-LABEL: func.func @large
// OFF:         call @fused_matmul_0
// OFF-NEXT:    return
func.func @large(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Of a constant the sums are made when compiling, also of a transposed one; a bias goes into the kernel that joins.
// CHECK-LABEL: func.func @dense
// CHECK:         call @fused_slice{{.*}}sub{{.*}} : (tensor<256x512xf32>) -> (tensor<128x256xf32>,
// CHECK-COUNT-7: call @fused_{{dense|matmul}}{{.*}} -> tensor<128x384xf32>
// CHECK-NEXT:    {{.*}} call @fused_{{.*}}concat{{.*}} -> tensor<256x768xf32>
// CHECK-NEXT:    return
// OFF-LABEL: func.func @dense
// OFF:         call @fused_{{dense|matmul}}_add
// OFF-NEXT:    return
func.func @dense(%x: tensor<256x512xf32>, %b: tensor<768xf32>) -> tensor<256x768xf32> {
  %r = relay.arange {dtype = f32, size = 393216 : i64} : () -> tensor<393216xf32>
  %s = relay.sin %r : (tensor<393216xf32>) -> tensor<393216xf32>
  %w = relay.reshape %s {shape = array<i64: 768, 512>} : (tensor<393216xf32>) -> tensor<768x512xf32>
  %0 = relay.matmul %x, %w {transpose_b = true} : (tensor<256x512xf32>, tensor<768x512xf32>) -> tensor<256x768xf32>
  %1 = relay.add %0, %b : (tensor<256x768xf32>, tensor<768xf32>) -> tensor<256x768xf32>
  return %1 : tensor<256x768xf32>
}

// -----

// What is moved takes longer than what is spared.
// CHECK-LABEL: func.func @small
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @small
func.func @small(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = relay.matmul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @thin
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @thin
func.func @thin(%x: tensor<16x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<16x1024xf32> {
  %0 = relay.matmul %x, %y : (tensor<16x1024xf32>, tensor<1024x1024xf32>) -> tensor<16x1024xf32>
  return %0 : tensor<16x1024xf32>
}

// -----

// Halves of its rows fill no vectors.
// CHECK-LABEL: func.func @odd
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @odd
func.func @odd(%x: tensor<512x512xf32>, %y: tensor<512x528xf32>) -> tensor<512x528xf32> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf32>, tensor<512x528xf32>) -> tensor<512x528xf32>
  return %0 : tensor<512x528xf32>
}

// -----

// CHECK-LABEL: func.func @f16
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @f16
func.func @f16(%x: tensor<512x512xf16>, %y: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

// -----

// The product of a leading axis is a view of one of two axes, which is computed by halves.
// CHECK-LABEL: func.func @leading
// CHECK-COUNT-7: call @fused_matmul{{.*}} -> tensor<256x256xf32>
// OFF-LABEL: func.func @leading
// OFF-COUNT-1: call @fused_matmul
// OFF-NEXT:    return
func.func @leading(%x: tensor<1x512x512xf32>, %y: tensor<512x512xf32>) -> tensor<1x512x512xf32> {
  %0 = relay.matmul %x, %y : (tensor<1x512x512xf32>, tensor<512x512xf32>) -> tensor<1x512x512xf32>
  return %0 : tensor<1x512x512xf32>
}
