// RUN: fusion import %s | FileCheck %s
// RUN: fusion run %s --executor interp --input n='tensor<i32> 5' | FileCheck --check-prefix=OUT %s

// CHECK-LABEL: func.func @main
// CHECK:         relay.while
// CHECK:         relay.less
// CHECK:         relay.mul
// OUT: 120
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %init = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %product = %init) : tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %one, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %product, %i : tensor<i32>
    %2 = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}
