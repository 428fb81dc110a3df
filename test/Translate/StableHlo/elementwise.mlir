// RUN: fusion import %s | FileCheck %s
// Operators of one relay operator, and others that are put together.

// CHECK-LABEL: func.func @main
// CHECK:         %[[SUM:.*]] = relay.add %arg0, %arg1
// CHECK-NEXT:    %[[EXP:.*]] = relay.exp %[[SUM]]
// CHECK-NEXT:    %[[LESS:.*]] = relay.less %[[EXP]], %arg0
// CHECK-NEXT:    %[[CHOICE:.*]] = relay.where %[[LESS]], %[[EXP]], %arg1
// CHECK-NEXT:    return %[[CHOICE]]
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = stablehlo.compare LT, %1, %a, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = stablehlo.select %2, %1, %b : tensor<4xi1>, tensor<4xf32>
  return %3 : tensor<4xf32>
}
