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

// -----

func.func @winograd_c1(%x: tensor<1x4x8x8xf64>, %w: tensor<16x4x6xf64>) {
  // expected-error @+1 {{operands must be f32}}
  %0 = relay.winograd_conv2d %x, %w {tile = 2 : i64} : (tensor<1x4x8x8xf64>, tensor<16x4x6xf64>) -> tensor<1x6x8x8xf64>
  return
}

// -----

func.func @winograd_c2(%x: tensor<1x4x8x8xf32>, %w: tensor<16x4x6x1xf32>) {
  // expected-error @+1 {{data must have rank 4 and weight rank 3}}
  %0 = relay.winograd_conv2d %x, %w {tile = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<16x4x6x1xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @winograd_c3(%x: tensor<1x4x8x8xf32>, %w: tensor<25x4x6xf32>) {
  // expected-error @+1 {{tile must be 2 or 4}}
  %0 = relay.winograd_conv2d %x, %w {tile = 3 : i64} : (tensor<1x4x8x8xf32>, tensor<25x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @winograd_c3_points(%x: tensor<1x4x8x8xf32>, %w: tensor<16x4x6xf32>) {
  // expected-error @+1 {{found tile 4 and 16}}
  %0 = relay.winograd_conv2d %x, %w {tile = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<16x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @winograd_c4(%x: tensor<1x4x8x8xf32>, %w: tensor<16x5x6xf32>) {
  // expected-error @+1 {{the data's channels must be the weight's second extent, found 4 and 5}}
  %0 = relay.winograd_conv2d %x, %w {tile = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<16x5x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @winograd_c5(%x: tensor<1x4x8x8xf32>, %w: tensor<16x4x6xf32>) {
  // expected-error @+1 {{padding must be four numbers that are not negative and leave a result}}
  %0 = relay.winograd_conv2d %x, %w {tile = 2 : i64, padding = array<i64: -1, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<16x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @columns_c1(%x: tensor<12x8xf32>) {
  // expected-error @+1 {{the data must have rank 3 or more and be made of numbers, found tensor<12x8xf32>}}
  %0 = relay.col2im %x {kernel = array<i64: 2>} : (tensor<12x8xf32>) -> tensor<12x8xf32>
  return
}

// -----

func.func @columns_c2(%x: tensor<1x12x8x8xf32>) {
  // expected-error @+1 {{kernel must be 2 integers}}
  %0 = relay.col2im %x {kernel = array<i64: 2>} : (tensor<1x12x8x8xf32>) -> tensor<1x6x9x9xf32>
  return
}

// -----

func.func @columns_c3(%x: tensor<1x12x8x8xf32>) {
  // expected-error @+1 {{the positions of the kernel must divide the channels, found kernel [3, 3] and 12 channels}}
  %0 = relay.col2im %x {kernel = array<i64: 3, 3>} : (tensor<1x12x8x8xf32>) -> tensor<1x1x10x10xf32>
  return
}

// -----

func.func @columns_c4(%x: tensor<1x12x8x8xf32>) {
  // expected-error @+1 {{the result's extent on spatial axis 0 must be above 0}}
  %0 = relay.col2im %x {kernel = array<i64: 2, 3>, padding = array<i64: 8, 0, 1, 0>} : (tensor<1x12x8x8xf32>) -> tensor<1x2x0x10xf32>
  return
}
