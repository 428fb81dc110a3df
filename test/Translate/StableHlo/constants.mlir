// RUN: fusion import %s | FileCheck %s
// Literals: lists, one number for all, bits of floats, bytes.

// CHECK-LABEL: func.func @main
// CHECK-DAG:     dense<[1, -2, 3]> : tensor<3xi32>
// CHECK-DAG:     dense<0xFF800000> : tensor<f32>
// CHECK-DAG:     dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     dense<[true, false, true]> : tensor<3xi1>
func.func @main() -> (tensor<3xi32>, tensor<f32>, tensor<2xf32>, tensor<3xi1>) {
  %0 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
  %3 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  return %0, %1, %2, %3 : tensor<3xi32>, tensor<f32>, tensor<2xf32>, tensor<3xi1>
}
