// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @indexing
// CHECK-NEXT:    relay.gather %arg0, %arg1 {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.gather_elements %arg0, %arg2 : (tensor<4x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.gather_nd %arg0, %arg4 : (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.scatter_elements %arg0, %arg2, %arg3 {reduction = "add"} : (tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    relay.scatter_nd %arg0, %arg4, %arg3 : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    relay.one_hot %arg1, %arg5, %arg5 {depth = 5 : i64} : (tensor<2xi64>, tensor<f32>, tensor<f32>) -> tensor<2x5xf32>
func.func @indexing(%x: tensor<4x3xf32>, %i: tensor<2xi64>, %j: tensor<2x3xi64>, %u: tensor<2x3xf32>, %k: tensor<2x1xi32>, %on: tensor<f32>) {
  %0 = relay.gather %x, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = relay.gather_elements %x, %j : (tensor<4x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  %2 = relay.gather_nd %x, %k : (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  %3 = relay.scatter_elements %x, %j, %u {reduction = "add"} : (tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %4 = relay.scatter_nd %x, %k, %u : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %5 = relay.one_hot %i, %on, %on {depth = 5 : i64} : (tensor<2xi64>, tensor<f32>, tensor<f32>) -> tensor<2x5xf32>
  return
}
