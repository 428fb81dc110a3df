// y = (x * 0.5 / 0.5 + 2) / 2, which is x / 2 + 1: no constant is rounded here.
func.func @main(%x: tensor<2x3x4xf32> {relay.name = "x"}) -> (tensor<2x3x4xf32> {relay.name = "y"}) {
  %h = relay.constant dense<0.5> : tensor<f32>
  %t = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.mul %x, %h : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %1 = relay.div %0, %h : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %2 = relay.add %1, %t : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %3 = relay.div %2, %t : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}
