// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_axes_in_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'relay.reduce_sum' op violates constraint C1: axis 2 is out of range for a tensor of rank 2}}
  %0 = relay.reduce_sum %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_axes_named_once(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'relay.reduce_max' op violates constraint C1: axis -1 is named twice}}
  %0 = relay.reduce_max %x {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @mean_c2_floats(%x: tensor<2xi32>) {
  // expected-error @+1 {{'relay.reduce_mean' op violates constraint C2: the operand must be a float tensor, found tensor<2xi32>}}
  %0 = relay.reduce_mean %x : (tensor<2xi32>) -> tensor<i32>
  return
}

// -----

func.func @all_c2_booleans(%x: tensor<2xi32>) {
  // expected-error @+1 {{'relay.reduce_all' op violates constraint C2: the operand must be boolean (i1), found tensor<2xi32>}}
  %0 = relay.reduce_all %x : (tensor<2xi32>) -> tensor<i32>
  return
}

// -----

func.func @arg_c2_not_empty(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'relay.argmax' op violates constraint C2: axis 1 of tensor<2x0xf32> is empty}}
  %0 = relay.argmax %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @scan_c2_not_boolean(%x: tensor<2xi1>) {
  // expected-error @+1 {{'relay.cumsum' op violates constraint C2: the operand must not be boolean, found tensor<2xi1>}}
  %0 = relay.cumsum %x : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @topk_c2_k(%x: tensor<4xf32>) {
  // expected-error @+1 {{'relay.topk' op violates constraint C2: k is 5, expected 0 to extent 4 of axis 0}}
  %0:2 = relay.topk %x {k = 5 : i64} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}
