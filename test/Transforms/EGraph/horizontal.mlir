// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{off=joining})' --split-input-file | FileCheck %s --check-prefix=OFF

// Small kernels of like shape are one call, though they share nothing.
// CHECK-LABEL: func.func @alike
// CHECK:         call @fused_{{.*}} -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT:     call
// OFF-LABEL: func.func @alike
// OFF-COUNT-2:  call @fused_
func.func @alike(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = relay.tanh %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = relay.exp %y : (tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// Others are not, nor are those for which a call is nothing.
// CHECK-LABEL: func.func @unlike
// CHECK-COUNT-2: call @fused_
func.func @unlike(%x: tensor<64xf32>, %y: tensor<65xf32>) -> (tensor<64xf32>, tensor<65xf32>) {
  %0 = relay.tanh %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = relay.exp %y : (tensor<65xf32>) -> tensor<65xf32>
  return %0, %1 : tensor<64xf32>, tensor<65xf32>
}

// -----

// CHECK-LABEL: func.func @large
// CHECK-COUNT-2: call @fused_
func.func @large(%x: tensor<999999xf32>, %y: tensor<999999xf32>) -> (tensor<999999xf32>, tensor<999999xf32>) {
  %0 = relay.tanh %x : (tensor<999999xf32>) -> tensor<999999xf32>
  %1 = relay.exp %y : (tensor<999999xf32>) -> tensor<999999xf32>
  return %0, %1 : tensor<999999xf32>, tensor<999999xf32>
}
