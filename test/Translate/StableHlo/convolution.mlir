// RUN: fusion import %s | FileCheck %s
// Any dimension numbers are turned to those of relay.conv2d.

// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = relay.transpose %arg0 {axes = array<i64: 0, 3, 1, 2>}
// CHECK:         %[[W:.*]] = relay.transpose %arg1 {axes = array<i64: 3, 2, 0, 1>}
// CHECK:         %[[Y:.*]] = relay.conv2d %[[X]], %[[W]]
// CHECK-SAME:      padding = array<i64: 0, 0, 1, 1>
// CHECK:         relay.transpose %[[Y]] {axes = array<i64: 0, 2, 3, 1>}
func.func @main(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32>
  return %0 : tensor<2x4x4x4xf32>
}
