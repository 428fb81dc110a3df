// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @creation
// CHECK-NEXT:    relay.constant dense<[1, 2]> : tensor<2xi8>
// CHECK-NEXT:    relay.constant dense<true> : tensor<2x2xi1>
// CHECK-NEXT:    relay.arange {dtype = f32, size = 4 : i64, step = 2.000000e+00 : f64} : () -> tensor<4xf32>
// CHECK-NEXT:    relay.dynamic_iota %arg1 : (tensor<i64>) -> tensor<?xi64>
// CHECK-NEXT:    relay.shape_of %arg0 : (tensor<2x?xf32>) -> tensor<2xi64>
func.func @creation(%x: tensor<2x?xf32>, %n: tensor<i64>) {
  %0 = relay.constant dense<[1, 2]> : tensor<2xi8>
  %1 = relay.constant dense<true> : tensor<2x2xi1>
  %2 = relay.arange {dtype = f32, size = 4 : i64, step = 2.000000e+00 : f64} : () -> tensor<4xf32>
  %4 = relay.dynamic_iota %n : (tensor<i64>) -> tensor<?xi64>
  %3 = relay.shape_of %x : (tensor<2x?xf32>) -> tensor<2xi64>
  return
}
