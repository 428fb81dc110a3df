// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @c1_orders_of_the_same_axes(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'relay.layout_transform' op violates constraint C1: "NHC" is no order of the axes NCHW: it has no W}}
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NHC"} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @c2_extents_of_the_order(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{violates constraint C2: tensor<1x4x8x8xf32> has not the extents of something laid out as NCHW4c}}
  %0 = relay.layout_transform %x {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x4x8x8xf32>) -> tensor<1x16x8x8xf32>
  return
}

// -----

func.func @c3_parts_divide_the_axis(%x: tensor<1x6x8x8xf32>) {
  // expected-error @+1 {{violates constraint C3: tensor<1x6x8x8xf32> cannot be laid out as NCHW4c, whose parts do not divide it}}
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8x4xf32>
  return
}

// -----

// Constraints of the plain operator are those of the images.
func.func @c4_of_the_convolution(%x: tensor<1x8x8x4xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error @+1 {{'relay.layout_conv2d' op violates constraint C4: the data's channels must be groups times the weight's, found 4 channels, 1 groups and 3 of the weight}}
  %0 = relay.layout_conv2d %x, %w {data_layout = "NHWC"} : (tensor<1x8x8x4xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @c6_a_layout(%x: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'relay.layout_max_pool2d' op violates constraint C6: data_layout "NHWX" is no order of the axes NCHW: it has 'X'}}
  %0 = relay.layout_max_pool2d %x {kernel = array<i64: 2, 2>, data_layout = "NHWX"} : (tensor<1x8x8x4xf32>) -> tensor<1x7x7x4xf32>
  return
}
