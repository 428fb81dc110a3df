// A classifier of four numbers into three classes: two dense layers, a rectifier and a softmax.
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w0 = relay.constant dense<
      [[0.81, 0.37, 0.53, 0.81],
      [-0.48, 0.27, 0.81, 0.74],
      [0.15, -0.66, -0.18, 0.99],
      [-0.79, -0.36, 0.90, -0.10],
      [-0.58, -0.37, 0.82, -0.33],
      [-0.15, 0.26, 0.61, -0.02],
      [-0.84, 0.15, -0.93, -0.81],
      [-0.62, 0.39, -0.43, 0.38]]> : tensor<8x4xf32>
  %b0 = relay.constant dense<
      [-0.34, -0.38, -0.48, 0.21, 0.36, -0.28, -0.26, -0.49]> : tensor<8xf32>
  %w1 = relay.constant dense<
      [[0.29, -0.40, -0.73, 0.29, 0.20, -0.11, -0.69, 0.28],
      [0.11, -0.13, -0.67, 0.86, 0.73, 0.38, 0.99, 0.16],
      [-0.31, -0.77, 0.22, 0.04, -0.13, 0.99, 0.68, -0.77]]> : tensor<3x8xf32>
  %b1 = relay.constant dense<[0.38, -0.50, 0.15]> : tensor<3xf32>
  %0 = relay.dense %x, %w0 : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %1 = relay.add %0, %b0 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %2 = relay.relu %1 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = relay.dense %2, %w1 : (tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<2x3xf32>
  %4 = relay.add %3, %b1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = relay.softmax %4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}
