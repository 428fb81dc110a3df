// RUN: fusion import %s | FileCheck %s
// A body that is one operator is a reduction; any other combines neighbours until one is left.

// CHECK-LABEL: func.func @main
// CHECK:         relay.reduce_sum %arg0 {axes = array<i64: 1>}
// CHECK:         relay.reduce_max %arg0 {axes = array<i64: 0, 1>}
// CHECK:         %[[EVEN:.*]] = relay.slice {{.*}} strides = array<i64: 2>
// CHECK:         %[[ODD:.*]] = relay.slice {{.*}} strides = array<i64: 2>
// CHECK:         relay.sub %[[EVEN]], %[[ODD]]
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %3 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0, %1, %2 : tensor<2xf32>, tensor<f32>, tensor<2xf32>
}
