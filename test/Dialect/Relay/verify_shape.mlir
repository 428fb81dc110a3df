// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @reshape_c1_one_dynamic_extent(%x: tensor<6xf32>) {
  // expected-error @+1 {{'relay.reshape' op violates constraint C1: shape [-1, -1] has 2 extents of -1, expected one at most}}
  %0 = relay.reshape %x {shape = array<i64: -1, -1>} : (tensor<6xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_c2_elements(%x: tensor<6xf32>) {
  // expected-error @+1 {{violates constraint C2: tensor<6xf32> cannot have shape [4], the numbers of elements differ}}
  %0 = relay.reshape %x {shape = array<i64: 4>} : (tensor<6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @transpose_c1_permutation(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'relay.transpose' op violates constraint C1: axis 0 is named twice}}
  %0 = relay.transpose %x {axes = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @squeeze_c2_extent_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'relay.squeeze' op violates constraint C2: axis 1 of tensor<2x3xf32> has extent 3, expected 1}}
  %0 = relay.squeeze %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @expand_dims_c1_in_range(%x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.expand_dims' op violates constraint C1: axis 2 is out of range for a tensor of rank 2}}
  %0 = relay.expand_dims %x {axes = array<i64: 2>} : (tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @broadcast_to_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.broadcast_to' op violates constraint C1: tensor<2xf32> does not broadcast to shape [3]}}
  %0 = relay.broadcast_to %x {shape = array<i64: 3>} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @concat_c1_rank(%x: tensor<2xf32>, %y: tensor<2x2xf32>) {
  // expected-error @+1 {{'relay.concat' op violates constraint C1: operands must have one element type and rank}}
  %0 = relay.concat %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_c3_other_extents(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{violates constraint C3: tensor<2x4xf32> has extent 4 on axis 1, expected 3 as before it}}
  %0 = relay.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @split_c2_sum(%x: tensor<5xf32>) {
  // expected-error @+1 {{'relay.split' op violates constraint C2: sections [2, 2] must sum to extent 5 of axis 0}}
  %0:2 = relay.split %x {axis = 0 : i64, sections = array<i64: 2, 2>} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @slice_c1_one_length(%x: tensor<5xf32>) {
  // expected-error @+1 {{'relay.slice' op violates constraint C1: begin, end, axes and strides must have one length}}
  %0 = relay.slice %x {begin = array<i64: 0>, end = array<i64>} : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @slice_c3_stride(%x: tensor<5xf32>) {
  // expected-error @+1 {{violates constraint C3: strides [0] must not have a 0}}
  %0 = relay.slice %x {begin = array<i64: 0>, end = array<i64: 5>, strides = array<i64: 0>} : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_c2_mode(%x: tensor<5xf32>) {
  // expected-error @+1 {{'relay.pad' op violates constraint C2: mode "mirror" must be one of}}
  %0 = relay.pad %x {padding = array<i64: 1, 1>, mode = "mirror"} : (tensor<5xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @pad_c3_reflection(%x: tensor<2xf32>) {
  // expected-error @+1 {{violates constraint C3: axis 0 with 2 elements is too short for reflect padding (2, 0)}}
  %0 = relay.pad %x {padding = array<i64: 2, 0>, mode = "reflect"} : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @tile_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'relay.tile' op violates constraint C1: reps [2] must have one number for each axis of tensor<2x3xf32>}}
  %0 = relay.tile %x {reps = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @resize_c3_floats(%x: tensor<4xi32>) {
  // expected-error @+1 {{'relay.resize' op violates constraint C3: linear interpolation needs floats, found tensor<4xi32>}}
  %0 = relay.resize %x {size = array<i64: 8>, scales = array<f64: 2.0>, method = "linear"} : (tensor<4xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'relay.reverse' op violates constraint C1: axis 1 is out of range for a tensor of rank 1}}
  %0 = relay.reverse %x {axes = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
