// A convolution with a 3x3 kernel, padding and a rectifier.
func.func @main(%x: tensor<1x8x15x17xf32>, %w: tensor<12x8x3x3xf32>) -> tensor<1x12x15x17xf32> {
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x8x15x17xf32>, tensor<12x8x3x3xf32>) -> tensor<1x12x15x17xf32>
  %1 = relay.relu %0 : (tensor<1x12x15x17xf32>) -> tensor<1x12x15x17xf32>
  return %1 : tensor<1x12x15x17xf32>
}
