// RUN: fusion import %s | FileCheck %s
// The generic form of operations, with properties or attributes, and aliases.

#axes = array<i64: 1, 0>
!matrix = tensor<2x3xf32>
// CHECK-LABEL: func.func @main
// CHECK:         %[[T:.*]] = relay.transpose %arg0 {axes = array<i64: 1, 0>}
// CHECK:         relay.add %[[T]], %arg1
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>, sym_name = "main"}> ({
  ^bb0(%x: !matrix, %y: tensor<3x2xf32>):
    %0 = "stablehlo.transpose"(%x) <{permutation = #axes}> : (!matrix) -> tensor<3x2xf32>
    %1 = "stablehlo.add"(%0, %y) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    "func.return"(%1) : (tensor<3x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
