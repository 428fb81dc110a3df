// RUN: not fusion import %s 2>&1 | FileCheck %s
// CHECK: stablehlo.custom_call: the function lapack_sgesdd_ffi is outside of the program, and not one that is known
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
