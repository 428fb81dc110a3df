// RUN: fusion import %s | FileCheck %s
// Operators on quantized tensors work on what these stand for.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    tensor<4xi8>
// CHECK:         relay.sub
// CHECK:         relay.add
// CHECK:         relay.round
// CHECK:         relay.clip {{.*}}max = 1.270000e+02
// CHECK:         relay.cast {{.*}}dtype = i8
func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = stablehlo.add %x, %x : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}
