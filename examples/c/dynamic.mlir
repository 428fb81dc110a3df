// A dense layer of any number of rows.
func.func @main(%x: tensor<?x4xf32, #relay.dims<["batch", ""]>>) -> tensor<?x2xf32, #relay.dims<["batch", ""]>> {
  %w = relay.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.5, 0.5, 0.5, 0.5]]> : tensor<2x4xf32>
  %y = relay.dense %x, %w
    : (tensor<?x4xf32, #relay.dims<["batch", ""]>>, tensor<2x4xf32>) -> tensor<?x2xf32, #relay.dims<["batch", ""]>>
  return %y : tensor<?x2xf32, #relay.dims<["batch", ""]>>
}
