// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_floats(%x: tensor<4xi32>) {
  // expected-error @+1 {{'relay.softmax' op violates constraint C1: the data must be a float tensor of rank 0 or more, found tensor<4xi32>}}
  %0 = relay.softmax %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @c2_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'relay.log_softmax' op violates constraint C2: axis must be in range for tensor<4xf32>, found 1}}
  %0 = relay.log_softmax %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @batch_norm_c2_channels(%x: tensor<1x3x4xf32>, %p: tensor<3xf32>, %q: tensor<4xf32>) {
  // expected-error @+1 {{'relay.batch_norm' op violates constraint C2: beta must be a float tensor [3], one number a channel, found tensor<4xf32>}}
  %0 = relay.batch_norm %x, %p, %q, %p, %p : (tensor<1x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @group_norm_c3_groups(%x: tensor<1x3x4xf32>, %p: tensor<3xf32>) {
  // expected-error @+1 {{'relay.group_norm' op violates constraint C3}}
  %0 = relay.group_norm %x, %p, %p {num_groups = 2 : i64} : (tensor<1x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @layer_norm_c3_inner(%x: tensor<2x4xf32>, %p: tensor<2x4xf32>) {
  // expected-error @+1 {{'relay.layer_norm' op violates constraint C3: gamma must be a float tensor that broadcasts to the data's last 1 dimensions}}
  %0 = relay.layer_norm %x, %p, %p : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @lrn_c2_size(%x: tensor<1x3x4xf32>) {
  // expected-error @+1 {{'relay.lrn' op violates constraint C2: size must be an integer above 0}}
  %0 = relay.lrn %x {size = 0 : i64} : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return
}
