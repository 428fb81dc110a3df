// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_one_element_type(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'relay.add' op violates constraint C1: operands must have one element type, found f32 and f64; write relay.cast to convert one}}
  %0 = relay.add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_shapes_broadcast(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'relay.mul' op violates constraint C2: shapes do not broadcast: tensor<4xf32>, tensor<3xf32>}}
  %0 = relay.mul %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c1_floats(%x: tensor<4xi32>) {
  // expected-error @+1 {{'relay.exp' op violates constraint C1: the operand must be a float tensor, found tensor<4xi32>}}
  %0 = relay.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @c3_booleans(%x: tensor<4xi32>) {
  // expected-error @+1 {{'relay.logical_and' op violates constraint C3: operands must be boolean (i1), found i32}}
  %0 = relay.logical_and %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @c3_integers(%x: tensor<4xf32>) {
  // expected-error @+1 {{'relay.bitwise_xor' op violates constraint C3: operands must be integers, found f32}}
  %0 = relay.bitwise_xor %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @where_c1_boolean_condition(%c: tensor<4xi8>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'relay.where' op violates constraint C1: the condition must be boolean (i1), found tensor<4xi8>}}
  %0 = relay.where %c, %x, %x : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_type(%x: tensor<4xf32>, %y: tensor<2x1xf32>) {
  // expected-error @+1 {{'relay.less' op result 0 is tensor<2x4xf32>, its type relation gives tensor<2x4xi1>}}
  %0 = relay.less %x, %y : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @no_such_element_type(%x: tensor<4xi4>) {
  // expected-error @+1 {{'relay.abs' op takes and gives tensors of f64, f32, f16, bf16, i8 to i64, ui8 to ui64, i1 and !relay.string, found tensor<4xi4>}}
  %0 = relay.abs %x : (tensor<4xi4>) -> tensor<4xi4>
  return
}

// -----

func.func @bits_of_another_size(%x: tensor<2xf32>) -> tensor<2xi64> {
  // expected-error @+1 {{elements of f32 have 4 bytes, those of i64 8}}
  %0 = relay.bitcast %x {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
