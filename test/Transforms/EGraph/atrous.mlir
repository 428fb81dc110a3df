// RUN: fusion-opt %s --relay-optimize | FileCheck %s
// RUN: fusion-opt %s --relay-optimize --validate-passes -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS

// NUMBERS: validated: relay-optimize: @images, @channels_last

// Images of every second row and third column, convolved and put together: a convolution that is dilated so. The padding joins it, and what
// is cut off the result leaves it.
// CHECK-LABEL: func.func @images
// CHECK-NOT:     transpose
// CHECK-LABEL: func.func @channels_last
// CHECK-NOT:     transpose
// CHECK-DAG:   relay.conv2d {{.*}} {dilation = array<i64: 2, 3>, padding = array<i64: 2, 3, 1, 1>}
// CHECK-DAG:   relay.layout_conv2d {{.*}} {{.*}}dilation = array<i64: 2, 2>
func.func @images(%x: tensor<2x5x8x9xf32>, %w: tensor<4x5x3x3xf32>) -> tensor<2x4x7x7xf32> {
  %0 = relay.pad %x {padding = array<i64: 0, 0, 2, 3, 0, 0, 2, 3>} : (tensor<2x5x8x9xf32>) -> tensor<2x5x12x15xf32>
  %1 = relay.reshape %0 {shape = array<i64: 2, 5, 1, 6, 2, 5, 3>} : (tensor<2x5x12x15xf32>) -> tensor<2x5x1x6x2x5x3xf32>
  %2 = relay.transpose %1 {axes = array<i64: 2, 4, 6, 0, 1, 3, 5>} : (tensor<2x5x1x6x2x5x3xf32>) -> tensor<1x2x3x2x5x6x5xf32>
  %3 = relay.reshape %2 {shape = array<i64: 12, 5, 6, 5>} : (tensor<1x2x3x2x5x6x5xf32>) -> tensor<12x5x6x5xf32>
  %4 = relay.conv2d %3, %w : (tensor<12x5x6x5xf32>, tensor<4x5x3x3xf32>) -> tensor<12x4x4x3xf32>
  %5 = relay.reshape %4 {shape = array<i64: 1, 2, 3, 2, 4, 4, 3>} : (tensor<12x4x4x3xf32>) -> tensor<1x2x3x2x4x4x3xf32>
  %6 = relay.transpose %5 {axes = array<i64: 3, 4, 0, 5, 1, 6, 2>} : (tensor<1x2x3x2x4x4x3xf32>) -> tensor<2x4x1x4x2x3x3xf32>
  %7 = relay.reshape %6 {shape = array<i64: 2, 4, 8, 9>} : (tensor<2x4x1x4x2x3x3xf32>) -> tensor<2x4x8x9xf32>
  %8 = relay.slice %7 {begin = array<i64: 0, 0>, end = array<i64: 7, 7>, axes = array<i64: 2, 3>} : (tensor<2x4x8x9xf32>) -> tensor<2x4x7x7xf32>
  return %8 : tensor<2x4x7x7xf32>
}
func.func @channels_last(%x: tensor<1x12x12x5xf32>, %w: tensor<3x3x5x4xf32>) -> tensor<1x8x8x4xf32> {
  %1 = relay.reshape %x {shape = array<i64: 1, 6, 2, 6, 2, 5>} : (tensor<1x12x12x5xf32>) -> tensor<1x6x2x6x2x5xf32>
  %2 = relay.transpose %1 {axes = array<i64: 2, 4, 0, 1, 3, 5>} : (tensor<1x6x2x6x2x5xf32>) -> tensor<2x2x1x6x6x5xf32>
  %3 = relay.reshape %2 {shape = array<i64: 4, 6, 6, 5>} : (tensor<2x2x1x6x6x5xf32>) -> tensor<4x6x6x5xf32>
  %4 = relay.layout_conv2d %3, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<4x6x6x5xf32>, tensor<3x3x5x4xf32>) -> tensor<4x4x4x4xf32>
  %5 = relay.reshape %4 {shape = array<i64: 2, 2, 1, 4, 4, 4>} : (tensor<4x4x4x4xf32>) -> tensor<2x2x1x4x4x4xf32>
  %6 = relay.transpose %5 {axes = array<i64: 2, 3, 0, 4, 1, 5>} : (tensor<2x2x1x4x4x4xf32>) -> tensor<1x4x2x4x2x4xf32>
  %7 = relay.reshape %6 {shape = array<i64: 1, 8, 8, 4>} : (tensor<1x4x2x4x2x4xf32>) -> tensor<1x8x8x4xf32>
  return %7 : tensor<1x8x8x4xf32>
}
