// y = (x * 0.02 + x * 0.02) / 0.02, which is 2 x.
func.func @main(%x: tensor<2x3x4xf32> {relay.name = "x"}) -> (tensor<2x3x4xf32> {relay.name = "y"}) {
  %c = relay.constant dense<0.02> : tensor<f32>
  %0 = relay.mul %x, %c : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %1 = relay.add %0, %0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = relay.div %1, %c : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}
