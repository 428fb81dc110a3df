// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @reduction
// CHECK-NEXT:    relay.reduce_sum %arg0 {axes = array<i64: 1>, keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    relay.reduce_any %arg1 : (tensor<2x4xi1>) -> tensor<i1>
// CHECK-NEXT:    relay.argmax %arg0 {axis = 1 : i64, select_last = true} : (tensor<2x4xf32>) -> tensor<2xi64>
// CHECK-NEXT:    relay.cumsum %arg0 {axis = 1 : i64, exclusive = true} : (tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @reduction(%x: tensor<2x4xf32>, %b: tensor<2x4xi1>) {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %1 = relay.reduce_any %b : (tensor<2x4xi1>) -> tensor<i1>
  %2 = relay.argmax %x {axis = 1 : i64, select_last = true} : (tensor<2x4xf32>) -> tensor<2xi64>
  %3 = relay.cumsum %x {axis = 1 : i64, exclusive = true} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
