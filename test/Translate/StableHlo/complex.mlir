// RUN: fusion import %s | FileCheck %s
// Both parts are values of their own, and a last axis of inputs and results.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    tensor<3x2xf32>
// CHECK-COUNT-4: relay.mul
// CHECK:         relay.concat
func.func @main(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %x : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
