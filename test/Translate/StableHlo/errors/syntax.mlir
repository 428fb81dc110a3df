// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: syntax.mlir:[[#@LINE+2]]:{{[0-9]+}}: found
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x tensor<4xf32> =
  return %0 : tensor<4xf32>
}
