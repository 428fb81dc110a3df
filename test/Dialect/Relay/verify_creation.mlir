// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @arange_c1_element_type() {
  // expected-error @+1 {{'relay.arange' op violates constraint C1: attribute dtype must be an element type}}
  %0 = relay.arange {size = 3 : i64, dtype = index} : () -> tensor<3xf32>
  return
}

// -----

func.func @arange_c2_size() {
  // expected-error @+1 {{'relay.arange' op violates constraint C2: size -1 must not be negative}}
  %0 = relay.arange {size = -1 : i64, dtype = f32} : () -> tensor<3xf32>
  return
}

// -----

func.func @shape_of_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'relay.shape_of' op result 0 is tensor<3xi64>, its type relation gives tensor<2xi64>}}
  %0 = relay.shape_of %x : (tensor<2x3xf32>) -> tensor<3xi64>
  return
}

// -----

func.func @dynamic_iota_c1_number(%n: tensor<1xi64>) {
  // expected-error @+1 {{'relay.dynamic_iota' op violates constraint C1: the operand must be a scalar of i64, found tensor<1xi64>}}
  %0 = relay.dynamic_iota %n : (tensor<1xi64>) -> tensor<?xi64>
  return
}
