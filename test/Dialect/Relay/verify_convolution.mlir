// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_one_element_type(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf64>) {
  // expected-error @+1 {{'relay.conv2d' op violates constraint C1}}
  %0 = relay.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf64>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @c2_rank(%x: tensor<3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{violates constraint C2: data and weight must have rank 4, found tensor<3x8x8xf32> and tensor<4x3x3x3xf32>}}
  %0 = relay.conv2d %x, %w : (tensor<3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @c3_attributes(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{violates constraint C3}}
  %0 = relay.conv2d %x, %w {strides = array<i64: 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @c4_channels(%x: tensor<1x6x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+1 {{violates constraint C4: the data's channels must be groups times the weight's, found 6 channels, 1 groups and 2 of the weight}}
  %0 = relay.conv2d %x, %w : (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @c5_kernel_fits(%x: tensor<1x3x2x2xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{violates constraint C5}}
  %0 = relay.conv2d %x, %w : (tensor<1x3x2x2xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x0x0xf32>
  return
}

// -----

func.func @transpose_c4_channels(%x: tensor<1x3x8xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{'relay.conv1d_transpose' op violates constraint C4: the data's channels must be the weight's first extent, found 3 and 4}}
  %0 = relay.conv1d_transpose %x, %w : (tensor<1x3x8xf32>, tensor<4x2x3xf32>) -> tensor<1x2x10xf32>
  return
}
