// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' | FileCheck %s

// Where the scale is 0 the element stays, and nothing is divided by 0.
// CHECK-LABEL: te.kernel @simulated
// CHECK:         %[[NONE:.*]] = arith.cmpf oeq
// CHECK:         arith.select %[[NONE]]
// CHECK:         arith.divf
// CHECK:         math.roundeven
// CHECK:         arith.select %[[NONE]]
func.func @simulated(%x: tensor<4x3xf32>, %s: tensor<4x1xf32>, %z: tensor<f32>, %least: tensor<f32>, %most: tensor<f32>) -> tensor<4x3xf32> attributes {relay.primitive} {
  %0 = relay.simulated_quantize %x, %s, %z, %least, %most : (tensor<4x3xf32>, tensor<4x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
