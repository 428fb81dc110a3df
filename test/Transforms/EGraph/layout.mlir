// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --relay-optimize=off=winograd --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --relay-optimize=off=layout+winograd --split-input-file | FileCheck %s --check-prefix=OFF

// A network of channels last, written with convolutions of channels first: the first convolution reads its data as it lies, and the last
// stores its result as it is wanted. No transpose is left.
// CHECK-LABEL: func.func @channels_last
// CHECK-NEXT:    call @fused_layout_conv2d_0(%arg0,
// CHECK-NEXT:    call @fused_max_pool2d_add_relu_0(
// CHECK-NEXT:    call @fused_layout_conv2d_1(
// CHECK-NEXT:    return
// CHECK:         relay.layout_conv2d {{.*}}data_layout = "NHWC"{{.*}}out_layout = "NCHW"
// CHECK:         relay.layout_conv2d {{.*}}data_layout = "NCHW"{{.*}}out_layout = "NHWC"
// OFF-LABEL:   func.func @channels_last
// OFF:           call @fused_transpose_0(%arg0)
func.func @channels_last(%x: tensor<1x16x16x32xf32>, %w: tensor<64x32x3x3xf32>, %v: tensor<32x64x3x3xf32>, %b: tensor<64x1x1xf32>) -> tensor<1x3x3x32xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x16x16x32xf32>) -> tensor<1x32x16x16xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x8x8xf32>
  %2 = relay.add %1, %b : (tensor<1x64x8x8xf32>, tensor<64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %3 = relay.relu %2 : (tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32>
  %4 = relay.max_pool2d %3 {kernel = array<i64: 4, 4>} : (tensor<1x64x8x8xf32>) -> tensor<1x64x5x5xf32>
  %5 = relay.conv2d %4, %v : (tensor<1x64x5x5xf32>, tensor<32x64x3x3xf32>) -> tensor<1x32x3x3xf32>
  %6 = relay.transpose %5 {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x32x3x3xf32>) -> tensor<1x3x3x32xf32>
  return %6 : tensor<1x3x3x32xf32>
}

// -----

// Blocks of channels that come and go are read and stored as they are.
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT:    call @fused_layout_conv2d_0(%arg0,
// CHECK-NEXT:    return
// CHECK:         relay.layout_conv2d {{.*}}data_layout = "NCHW32c"{{.*}}out_layout = "NCHW"
// OFF-LABEL:   func.func @blocks
// OFF:           call @fused_layout_transform_0(%arg0)
func.func @blocks(%x: tensor<1x2x8x8x32xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x6x6xf32> {
  %0 = relay.layout_transform %x {src_layout = "NCHW32c", dst_layout = "NCHW"} : (tensor<1x2x8x8x32xf32>) -> tensor<1x64x8x8xf32>
  %1 = relay.conv2d %0, %w : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x6x6xf32>
  return %1 : tensor<1x64x6x6xf32>
}

// -----

// A convolution whose gain is not worth moving its data and its result is put into blocks behind one that is to be had in an order.
// CHECK-LABEL: func.func @behind
// CHECK:         call @fused_layout_conv2d_0(%arg0)
// CHECK:         call @fused_layout_conv2d_1({{[^)]*}}) : ({{.*}}) -> tensor<1x2x7x7x32xf32>
// CHECK:         relay.layout_conv2d {{.*}}strides = array<i64: 2, 2>
// CHECK:         relay.layout_conv2d {{.*}}out_layout = "NCHW32c", padding = array<i64: 1, 1, 1, 1>
// OFF-LABEL:   func.func @behind
// OFF-NOT:       layout_conv2d
func.func @behind(%x: tensor<1x32x14x14xf32>) -> tensor<1x64x1x1xf32> {
  %w = relay.constant dense<0.5> : tensor<64x32x1x1xf32>
  %v = relay.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<1x32x14x14xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x7x7xf32>
  %1 = relay.relu %0 : (tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %2 = relay.conv2d %1, %v {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x7x7xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x7x7xf32>
  %3 = relay.reduce_mean %2 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x64x7x7xf32>) -> tensor<1x64x1x1xf32>
  return %3 : tensor<1x64x1x1xf32>
}

// -----

// The same convolution of what comes from outside stays as it is.
// CHECK-LABEL: func.func @in_front
// CHECK-NEXT:    call @fused_conv2d_0(%arg0)
func.func @in_front(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x1x1xf32> {
  %v = relay.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = relay.conv2d %x, %v {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x7x7xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x7x7xf32>
  %1 = relay.reduce_mean %0 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x64x7x7xf32>) -> tensor<1x64x1x1xf32>
  return %1 : tensor<1x64x1x1xf32>
}

// -----

// Rows of pixels that fill vectors stay as they are.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT:    call @fused_conv2d_0(%arg0, %arg1)
// CHECK-NEXT:    return
func.func @plain(%x: tensor<1x64x64x64xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x62x62xf32> {
  %0 = relay.conv2d %x, %w : (tensor<1x64x64x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x62x62xf32>
  return %0 : tensor<1x64x62x62xf32>
}
