// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: calls are nested more than 256 levels deep at @main; StableHLO has no recursion
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
