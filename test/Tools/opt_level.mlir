// RUN: fusion explain %s -O0 | FileCheck %s --check-prefix=NONE
// RUN: fusion explain %s -O1 | FileCheck %s --check-prefix=EGRAPH
// RUN: fusion explain %s -O0 --strategy egraph | FileCheck %s --check-prefix=EGRAPH
// RUN: fusion explain %s -O2 --strategy none | FileCheck %s --check-prefix=NONE
// RUN: not fusion explain %s -O0 --rules-off algebra 2>&1 | FileCheck %s --check-prefix=RULES

// Without optimization each operator is a kernel, as the source has it.
// NONE:     3 kernels
// NONE:     fused_transpose_0
// NONE:     fused_tanh_0
// NONE:     fused_transpose_
// NONE-NOT: saturation

// EGRAPH:   1 kernels
// EGRAPH:   fused_tanh_0
// EGRAPH:   saturation

// RULES:    error: --rules-off algebra is for --strategy egraph, the only one that has rules; the strategy is none, so leave it away
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = relay.transpose %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = relay.tanh %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = relay.transpose %1 : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
