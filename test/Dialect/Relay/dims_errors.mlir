// RUN: fusion-opt %s --verify-diagnostics --split-input-file

// Extents that differ by a number are never equal.
func.func @concat_c3(%x: tensor<?x4xf32, #relay.dims<["n", ""]>>, %y: tensor<?x4xf32, #relay.dims<["n+1", ""]>>) {
  // expected-error @+1 {{violates constraint C3: tensor<n+1x4xf32> has extent n+1 on axis 0, expected n as before it}}
  %0 = relay.concat %x, %y {axis = 1 : i64} : (tensor<?x4xf32, #relay.dims<["n", ""]>>, tensor<?x4xf32, #relay.dims<["n+1", ""]>>) -> tensor<?x8xf32, #relay.dims<["n", ""]>>
  return
}

// -----

func.func @reshape_c2(%x: tensor<?x6xf32, #relay.dims<["n", ""]>>) {
  // expected-error @+1 {{violates constraint C2: tensor<nx6xf32> cannot have shape [6*n+1], the numbers of elements differ}}
  %0 = relay.reshape %x {shape = #relay.dims<["6*n+1"]>} : (tensor<?x6xf32, #relay.dims<["n", ""]>>) -> tensor<?xf32, #relay.dims<["6*n+1"]>>
  return
}
