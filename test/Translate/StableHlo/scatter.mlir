// RUN: fusion import %s | FileCheck %s
// Sums leave out what is out of bounds by adding 0.

// CHECK-LABEL: func.func @main
// CHECK:         relay.where
// CHECK:         relay.scatter_nd {{.*}}reduction = "add"
func.func @main(%x: tensor<6xf32>, %i: tensor<4x1xi32>, %v: tensor<4xf32>) -> tensor<6xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %v) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
