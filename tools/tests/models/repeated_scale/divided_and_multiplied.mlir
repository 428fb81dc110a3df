// y = ((x / 0.1) * 0.1) * 0.1, which is 0.1 x.
func.func @main(%x: tensor<4xf32> {relay.name = "x"}) -> (tensor<4xf32> {relay.name = "y"}) {
  %c = relay.constant dense<0.1> : tensor<f32>
  %0 = relay.div %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.mul %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.mul %1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
