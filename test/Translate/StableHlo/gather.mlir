// RUN: fusion import %s | FileCheck %s
// Rows of a table are relay.gather; windows at computed places are relay.gather_nd.

// CHECK-LABEL: func.func @main
// CHECK:         relay.gather %arg0
// CHECK:         relay.gather_nd
func.func @main(%table: tensor<9x4xf32>, %i: tensor<3x1xi32>, %at: tensor<2x2xi32>) -> (tensor<3x4xf32>, tensor<2x3x2xf32>) {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %1 = "stablehlo.gather"(%table, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 3, 2>}> : (tensor<9x4xf32>, tensor<2x2xi32>) -> tensor<2x3x2xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<2x3x2xf32>
}
