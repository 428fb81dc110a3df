// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: elements of type f8E4M3FN, which are not supported
func.func @main(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.negate %x : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
