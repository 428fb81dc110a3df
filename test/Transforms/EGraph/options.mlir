// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{strategy=none})' | FileCheck %s --check-prefix=NONE
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{strategy=relay})' | FileCheck %s --check-prefix=RELAY
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{strategy=xla})' | FileCheck %s --check-prefix=XLA
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{off=axes+siblings})' | FileCheck %s --check-prefix=OFF
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{strategy=best})' 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{off=everything})' 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{remarks=/no/such/folder/x.json})' 2>&1 | FileCheck %s --check-prefix=REMARKS
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-optimize{check=100000000 proofs=true remarks=%t.json})' -o /dev/null
// RUN: FileCheck %s --check-prefix=PROOF < %t.json

// NONE-LABEL: func.func @main
// NONE:         call @fused_transpose_0
// NONE:         call @fused_tanh_0
// NONE:         call @fused_transpose_1
// RELAY-LABEL: func.func @main
// RELAY:         call @fused_transpose_tanh_transpose_0
// XLA-LABEL: func.func @main
// XLA:         call @fused_transpose_tanh_transpose_0
// OFF-LABEL: func.func @main
// OFF:         call @fused_transpose_tanh_transpose_0
// STRATEGY: error: the option strategy of relay-optimize must be one of none, relay, xla, egraph, found "best"
// FAMILY: error: the option off of relay-optimize names families of rules joined by +, or joining; there is no "everything", but algebra, axes,
// REMARKS: error: cannot write the remarks /no/such/folder/x.json
// The transposes are gone, and the remarks say by which rule.
// PROOF:      "proofs": [
// PROOF:      "rule": "elementwise-of-transpose"
func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = relay.transpose %x : (tensor<64x128xf32>) -> tensor<128x64xf32>
  %1 = relay.tanh %0 : (tensor<128x64xf32>) -> tensor<128x64xf32>
  %2 = relay.transpose %1 : (tensor<128x64xf32>) -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}
