// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_index_type(%x: tensor<4xf32>, %i: tensor<2xi8>) {
  // expected-error @+1 {{'relay.gather' op violates constraint C1: indices must be i32 or i64, found tensor<2xi8>}}
  %0 = relay.gather %x, %i : (tensor<4xf32>, tensor<2xi8>) -> tensor<2xf32>
  return
}

// -----

func.func @c2_axis(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'relay.gather' op violates constraint C2: axis 1 is out of range for a tensor of rank 1}}
  %0 = relay.gather %x, %i {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @c3_rank(%x: tensor<4x4xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'relay.gather_elements' op violates constraint C3: indices must have the rank of the data}}
  %0 = relay.gather_elements %x, %i : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_c3_index_length(%x: tensor<4xf32>, %i: tensor<2x2xi64>) {
  // expected-error @+1 {{'relay.gather_nd' op violates constraint C3: the last extent of indices must be known and 1 at most, found tensor<2x2xi64>}}
  %0 = relay.gather_nd %x, %i : (tensor<4xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @scatter_c4_updates(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf64>) {
  // expected-error @+1 {{'relay.scatter_elements' op violates constraint C4: updates must have element type f32, found tensor<2xf64>}}
  %0 = relay.scatter_elements %x, %i, %u : (tensor<4xf32>, tensor<2xi64>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_c5_reduction(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @+1 {{'relay.scatter_nd' op violates constraint C5: reduction "sum" must be one of}}
  %0 = relay.scatter_nd %x, %i, %u {reduction = "sum"} : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @one_hot_c2_scalars(%i: tensor<2xi64>, %on: tensor<1xf32>) {
  // expected-error @+1 {{'relay.one_hot' op violates constraint C2: on and off must be scalars (rank 0), found tensor<1xf32>}}
  %0 = relay.one_hot %i, %on, %on {depth = 3 : i64} : (tensor<2xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @one_hot_c4_depth(%i: tensor<2xi64>, %on: tensor<f32>) {
  // expected-error @+1 {{violates constraint C4: depth -1 must not be negative}}
  %0 = relay.one_hot %i, %on, %on {depth = -1 : i64} : (tensor<2xi64>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  return
}
