// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: unknown_value.mlir:[[#@LINE+2]]:23: there is no value %input0 here; did you mean %input?
func.func @main(%input: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %input0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
