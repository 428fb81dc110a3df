func.func @rows(%x: tensor<1x4x4x8x2xf32>) -> tensor<1x4x7x7xf32> attributes {relay.primitive} {
  %0 = relay.layout_max_pool2d %x {kernel = array<i64: 2, 2>, data_layout = "NCHW2h", out_layout = "NCHW"} : (tensor<1x4x4x8x2xf32>) -> tensor<1x4x7x7xf32>
  return %0 : tensor<1x4x7x7xf32>
}
