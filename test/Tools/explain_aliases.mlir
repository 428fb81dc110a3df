// RUN: fusion explain %s --proof y | FileCheck %s --check-prefix=OUTPUT
// RUN: fusion explain %s --proof z | FileCheck %s --check-prefix=INPUT
// RUN: fusion explain %s --proof c | FileCheck %s --check-prefix=CONSTANT
// RUN: fusion explain %s --proof 0 | FileCheck %s --check-prefix=UNNEEDED
// RUN: fusion explain %s --proof u | FileCheck %s --check-prefix=PLAIN
// RUN: fusion explain %s --why y | FileCheck %s --check-prefix=WHY
// RUN: fusion explain %s --why x | FileCheck %s --check-prefix=SOURCE
// RUN: not fusion explain %s --why unused 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not fusion explain %s --proof y -O0 2>&1 | FileCheck %s --check-prefix=NONE

// An output by its name, whose value is another one by a rule.
// OUTPUT:       y is another name of [[VALUE:.*]]explain_aliases.mlir:43:8
// OUTPUT:       [[VALUE]]explain_aliases.mlir:43:8 is another name of [[VALUE]]explain_aliases.mlir:44:8:
// OUTPUT-NEXT:      (transpose {} (tanh {} (transpose {} x0)))
// OUTPUT-NEXT:    = (tanh {} x0)    by elementwise-of-transpose

// An output that is an input.
// INPUT:        z is another name of [[VALUE:.*]]explain_aliases.mlir:46:8
// INPUT:        [[VALUE]]explain_aliases.mlir:46:8 is the same as x:
// INPUT-NEXT:       (slice {axes=[0],begin=[0],end=[4]} (concat {axis=0} x0 (tanh {} x0)))
// INPUT-NEXT:     = x0    by slice-of-concat
// INPUT:        x comes from outside of the kernels

// CONSTANT:     explain_aliases.mlir:40:8 is the constant 3.0:tensor<f32>

// UNNEEDED:     explain_aliases.mlir:41:8 is not computed: what reads it in the source is computed by forms that do not

// Rules may make what the source has.
// PLAIN:        u is computed as the source says: no rule was used

// WHY:          y is another name of [[VALUE:.*]]explain_aliases.mlir:43:8
// WHY:          y is in #{{[0-9]+}} fused_

// SOURCE:       x comes from outside of the kernels

// GONE:         error: the value "unused" ({{.*}}explain_aliases.mlir:48:13) is not in the program that kernels were chosen for
// NONE:         error: there are no remarks to explain: the strategy none does not decide by cost; xla and egraph do
func.func @main(%x: tensor<4x8xf32> {relay.name = "x"})
    -> (tensor<4x8xf32> {relay.name = "y"}, tensor<4x8xf32> {relay.name = "z"}, tensor<4x8xf32> {relay.name = "w"}) {
  %c = relay.constant dense<3.0> : tensor<f32>
  %0 = relay.transpose %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = relay.tanh %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = relay.transpose %1 : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %3 = relay.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = relay.concat %x, %3 {axis = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %5 = relay.slice %4 {begin = array<i64: 0>, end = array<i64: 4>, axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %u = relay.add %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %unused = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2, %5, %u : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
