// RUN: fusion import %s | FileCheck %s
// Unknown extents of inputs have names, and shapes that are computed from them are expressions.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    #relay.dims<["_x.0", ""]>
// CHECK:         relay.reshape %arg0
// CHECK-SAME:      2*_x.0
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %1 = stablehlo.multiply %0, %two : tensor<i32>
  %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.reshape %two : (tensor<i32>) -> tensor<1xi32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %5 = stablehlo.dynamic_reshape %x, %4 : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %5 : tensor<?x2xf32>
}
