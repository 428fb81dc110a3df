func.func @main(%x: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = relay.transpose %x : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}
