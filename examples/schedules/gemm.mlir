// A dense layer with a rectifier: 61 rows by 96, times 96 by 130.
func.func @main(%x: tensor<61x96xf32>, %w: tensor<130x96xf32>) -> tensor<61x130xf32> {
  %0 = relay.dense %x, %w : (tensor<61x96xf32>, tensor<130x96xf32>) -> tensor<61x130xf32>
  %1 = relay.relu %0 : (tensor<61x130xf32>) -> tensor<61x130xf32>
  return %1 : tensor<61x130xf32>
}
