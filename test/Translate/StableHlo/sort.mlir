// RUN: fusion import %s | FileCheck %s
// A comparator that looks at a key: all elements by relay.topk, and the other operands in its order.

// CHECK-LABEL: func.func @main
// CHECK:         relay.topk
// CHECK-SAME:      k = 5
// CHECK:         relay.gather_elements
// CHECK:         relay.gather_elements %arg1
func.func @main(%k: tensor<5xi32>, %v: tensor<5xf32>) -> (tensor<5xi32>, tensor<5xf32>) {
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5xi32>, tensor<5xf32>) -> (tensor<5xi32>, tensor<5xf32>)
  return %0#0, %0#1 : tensor<5xi32>, tensor<5xf32>
}
