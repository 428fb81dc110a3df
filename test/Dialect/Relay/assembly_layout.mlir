// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @layouts
// CHECK-NEXT:    relay.layout_transform %arg0 {dst_layout = "NCHW16c", src_layout = "NCHW"} : (tensor<1x32x8x8xf32>) -> tensor<1x2x8x8x16xf32>
// CHECK-NEXT:    relay.layout_conv2d %arg1, %arg2 {data_layout = "NHWC", padding = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32>
// CHECK-NEXT:    relay.layout_max_pool2d %arg1 {data_layout = "NHWC", kernel = array<i64: 2, 2>, out_layout = "NCHW"} : (tensor<1x8x8x4xf32>) -> tensor<1x4x7x7xf32>
func.func @layouts(%x: tensor<1x32x8x8xf32>, %y: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>) {
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW16c"} : (tensor<1x32x8x8xf32>) -> tensor<1x2x8x8x16xf32>
  %1 = relay.layout_conv2d %y, %w {data_layout = "NHWC", padding = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x8x8x6xf32>
  %2 = relay.layout_max_pool2d %y {kernel = array<i64: 2, 2>, data_layout = "NHWC", out_layout = "NCHW"} : (tensor<1x8x8x4xf32>) -> tensor<1x4x7x7xf32>
  return
}
