// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @normalization
// CHECK-NEXT:    relay.batch_norm %arg0, %arg1, %arg1, %arg1, %arg1 {epsilon = 1.000000e-03 : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    relay.group_norm %arg0, %arg1, %arg1 {num_groups = 2 : i64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    relay.layer_norm %arg0, %arg2, %arg2 : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    relay.lrn %arg0 {size = 3 : i64} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    relay.softmax %arg0 {axis = 1 : i64} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
func.func @normalization(%x: tensor<2x4x8xf32>, %c: tensor<4xf32>, %l: tensor<8xf32>) {
  %0 = relay.batch_norm %x, %c, %c, %c, %c {epsilon = 1.000000e-03 : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  %1 = relay.group_norm %x, %c, %c {num_groups = 2 : i64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  %2 = relay.layer_norm %x, %l, %l : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %3 = relay.lrn %x {size = 3 : i64} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %4 = relay.softmax %x {axis = 1 : i64} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}
