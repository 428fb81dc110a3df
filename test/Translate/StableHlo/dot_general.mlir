// RUN: fusion import %s | FileCheck %s
// Batches stay, and a contracted axis that comes first is a flag, not a transposition.

// CHECK-LABEL: func.func @main
// CHECK:         relay.matmul %arg0, %arg1 {transpose_a = true}
func.func @main(%a: tensor<3x5x4xf32>, %b: tensor<3x5x6xf32>) -> tensor<3x4x6xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x5x4xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
  return %0 : tensor<3x4x6xf32>
}
