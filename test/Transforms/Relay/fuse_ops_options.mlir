// RUN: fusion-opt %s --pass-pipeline="builtin.module(relay-fuse-ops{max-depth=2})" | FileCheck %s
// RUN: not fusion-opt %s --pass-pipeline="builtin.module(relay-fuse-ops{max-depth=0})" 2>&1 | FileCheck %s --check-prefix=ZERO

// ZERO: error: the option max-depth of relay-fuse-ops must be above 0, found 0

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    call @fused_neg_exp_0
// CHECK-NEXT:    call @fused_relu_0
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
