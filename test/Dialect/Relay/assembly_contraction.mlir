// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @contraction
// CHECK-NEXT:    relay.matmul %arg0, %arg1 {transpose_b = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:    relay.batch_matmul %arg0, %arg2 : (tensor<5x2x3xf32>, tensor<5x3x2xf32>) -> tensor<5x2x2xf32>
// CHECK-NEXT:    relay.dense %arg0, %arg1 : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
func.func @contraction(%a: tensor<5x2x3xf32>, %b: tensor<4x3xf32>, %c: tensor<5x3x2xf32>) {
  %0 = relay.matmul %a, %b {transpose_b = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
  %1 = relay.batch_matmul %a, %c : (tensor<5x2x3xf32>, tensor<5x3x2xf32>) -> tensor<5x2x2xf32>
  %2 = relay.dense %a, %b : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
  return
}

// CHECK-LABEL: func.func @by_halves
// CHECK-NEXT:    relay.strassen_sums %arg1 : (tensor<6x8xf32>) -> tensor<7x3x4xf32>
// CHECK-NEXT:    relay.matmul_strassen %arg0, %0 : (tensor<4x6xf32>, tensor<7x3x4xf32>) -> tensor<4x8xf32>
func.func @by_halves(%x: tensor<4x6xf32>, %y: tensor<6x8xf32>) {
  %0 = relay.strassen_sums %y : (tensor<6x8xf32>) -> tensor<7x3x4xf32>
  %1 = relay.matmul_strassen %x, %0 : (tensor<4x6xf32>, tensor<7x3x4xf32>) -> tensor<4x8xf32>
  return
}
