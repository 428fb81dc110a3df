// A softmax of 37 rows of 100.
func.func @main(%x: tensor<37x100xf32>) -> tensor<37x100xf32> {
  %0 = relay.softmax %x : (tensor<37x100xf32>) -> tensor<37x100xf32>
  return %0 : tensor<37x100xf32>
}
