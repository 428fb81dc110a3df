// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: unknown_operator.mlir:[[#@LINE+4]]:8: stablehlo.tanhh: there is no such operator; did you mean stablehlo.tanh?
// CHECK-NEXT: |   %0 = stablehlo.tanhh %x
// CHECK-NEXT: |        ^^^^^^^^^^^^^^^
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanhh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
