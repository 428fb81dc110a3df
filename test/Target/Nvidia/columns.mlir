// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --convert-relay-to-te --te-schedule --te-lower --fusion-nvidia-sm_80 --split-input-file | FileCheck %s

// Sums of columns: 16 bytes of a row at once, which rows of a warp combine by shuffles, and warps in shared memory.
// CHECK:      gpu.module @fused_reduce_sum_0_gpu
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: shfl.sync.bfly.b32
// CHECK-SAME: st.shared.v4.b32
// CHECK-SAME: bar.sync
// CHECK-SAME: ld.shared.v4.b32
// CHECK-SAME: st.global.v4.b32
func.func @main(%x: tensor<4096x1024xf32>) -> tensor<1024xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<4096x1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// A row of f16 is read 8 elements at a time, scales and shifts as well, and written so.
// CHECK:      gpu.module @fused_layer_norm_0_gpu
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: shfl.sync.bfly.b32
// CHECK-SAME: st.global.v4.b32
func.func @main(%x: tensor<4096x768xf16>, %g: tensor<768xf16>, %b: tensor<768xf16>) -> tensor<4096x768xf16> {
  %0 = relay.layer_norm %x, %g, %b : (tensor<4096x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<4096x768xf16>
  return %0 : tensor<4096x768xf16>
}
