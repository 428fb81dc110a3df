// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s
// RUN: not fusion-opt %S/Inputs/layout_split_rows.mlir --pass-pipeline='builtin.module(convert-relay-to-te)' 2>&1 | FileCheck %s --check-prefix=ROWS

// Data, weight and result in blocks are read without quotients; the sum goes as the data lies.
// CHECK-LABEL: te.kernel @blocks(
// CHECK:       te.compute "layout_conv2d" axes [1, 3, 6, 6, 4] reduce [2, 3, 3, 4] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[FO:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[FI:.*]]: index, %[[CO:.*]]: index, %[[K:.*]]: index, %[[L:.*]]: index, %[[CI:.*]]: index):
// CHECK-NEXT:    %[[Y:.*]] = arith.addi %[[I]], %[[K]] : index
// CHECK-NEXT:    %[[X:.*]] = arith.addi %[[J]], %[[L]] : index
// CHECK-NEXT:    te.load %arg0[%[[N]], %[[CO]], %[[Y]], %[[X]], %[[CI]]]
// CHECK-NEXT:    te.load %arg1[%[[FO]], %[[CO]], %[[K]], %[[L]], %[[CI]], %[[FI]]]
func.func @blocks(%x: tensor<1x2x8x8x4xf32>, %w: tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x6x6x4xf32> attributes {relay.primitive} {
  %0 = relay.layout_conv2d %x, %w {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x2x8x8x4xf32>, tensor<3x2x3x3x4x4xf32>) -> tensor<1x3x6x6x4xf32>
  return %0 : tensor<1x3x6x6x4xf32>
}

// Each channel by itself, last: the data's channel is the result's.
// CHECK-LABEL: te.kernel @depthwise(
// CHECK:       te.compute "layout_conv2d" axes [1, 6, 6, 4] reduce [3, 3, 1]
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[F:.*]]: index, %[[K:.*]]: index, %[[L:.*]]: index, %[[C:.*]]: index):
// CHECK:         te.load %arg0[%[[N]], %{{.*}}, %{{.*}}, %[[F]]]
// CHECK-NEXT:    te.load %arg1[%[[K]], %[[L]], %[[C]], %[[F]]]
func.func @depthwise(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<1x6x6x4xf32> attributes {relay.primitive} {
  %0 = relay.layout_conv2d %x, %w {groups = 4 : i64, data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}

// Read in one order and stored in another.
// CHECK-LABEL: te.kernel @pool(
// CHECK:       te.compute "layout_max_pool2d" axes [1, 4, 7, 7] reduce [2, 2]
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[K:.*]]: index, %[[L:.*]]: index):
// CHECK-NEXT:    %[[Y:.*]] = arith.addi %[[I]], %[[K]] : index
// CHECK-NEXT:    %[[X:.*]] = arith.addi %[[J]], %[[L]] : index
// CHECK-NEXT:    te.load %arg0[%[[N]], %[[Y]], %[[X]], %[[C]]]
func.func @pool(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x7x7xf32> attributes {relay.primitive} {
  %0 = relay.layout_max_pool2d %x {kernel = array<i64: 2, 2>, data_layout = "NHWC", out_layout = "NCHW"} : (tensor<1x8x8x4xf32>) -> tensor<1x4x7x7xf32>
  return %0 : tensor<1x4x7x7xf32>
}

// CHECK-LABEL: te.kernel @unblocked(
// CHECK:       te.compute "layout_transform" axes [1, 8, 5, 5]
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-DAG:     %[[CO:.*]] = arith.divui %[[C]], %{{.*}} : index
// CHECK-DAG:     %[[CI:.*]] = arith.remui %[[C]], %{{.*}} : index
// CHECK:         te.load %arg0[%[[N]], %[[CO]], %[[I]], %[[J]], %[[CI]]]
func.func @unblocked(%x: tensor<1x2x5x5x4xf32>) -> tensor<1x8x5x5xf32> attributes {relay.primitive} {
  %0 = relay.layout_transform %x {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x5x4xf32>) -> tensor<1x8x5x5xf32>
  return %0 : tensor<1x8x5x5xf32>
}

// ROWS: goes over images laid out as NCHW2h, whose rows or columns are split: only channels may be
