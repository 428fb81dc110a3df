// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// The last window hangs over the end, where the data is the type's least value.
// CHECK-LABEL: te.kernel @ceil_mode(
// CHECK-DAG:   %[[LAST:.*]] = arith.constant 3 : index
// CHECK-DAG:   %[[LEAST:.*]] = arith.constant -128 : i8
// CHECK:       %[[PAD:.*]] = te.compute "pad" axes [1, 1, 5] reduce [] init [] {
// CHECK:         %[[IN:.*]] = arith.cmpi sle, %{{.*}}, %[[LAST]] : index
// CHECK-NEXT:    te.load_if %[[IN]], %arg0[%{{.*}}] else %[[LEAST]] : tensor<1x1x4xi8> -> i8
// CHECK:       te.compute "max_pool1d{{.*}}" axes [1, 1, 2] reduce [3] init [-128 : i8] {
// CHECK:         te.load %[[PAD]]
// CHECK:         arith.maxsi
func.func @ceil_mode(%x: tensor<1x1x4xi8>) -> tensor<1x1x2xi8> attributes {relay.primitive} {
  %0 = relay.max_pool1d %x {kernel = array<i64: 3>, strides = array<i64: 2>, ceil_mode = true} : (tensor<1x1x4xi8>) -> tensor<1x1x2xi8>
  return %0 : tensor<1x1x2xi8>
}

// Windows inside the data read it directly.
// CHECK-LABEL: te.kernel @inside(
// CHECK-NOT:   "pad"
// CHECK:       te.compute "max_pool2d" axes [1, 4, 2, 2] reduce [2, 2] init [0xFF800000 : f32] {
// CHECK:         te.load %arg0
// CHECK:         arith.maximumf
func.func @inside(%x: tensor<1x4x5x4xf32>) -> tensor<1x4x2x2xf32> attributes {relay.primitive} {
  %0 = relay.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x5x4xf32>) -> tensor<1x4x2x2xf32>
  return %0 : tensor<1x4x2x2xf32>
}

// Padded axes count the positions inside the data, min(6 - 2 o, 3) - max(1 - 2 o, 0); the other is a constant.
// CHECK-LABEL: te.kernel @counted(
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:   %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:   %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:   %[[C_2:.*]] = arith.constant -2 : index
// CHECK-DAG:   %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:       %[[SUM:.*]] = te.compute "sum{{.*}}" axes [1, 4, 3, 3] reduce [3, 2]
// CHECK:       te.compute "avg_pool2d{{.*}}" axes [1, 4, 3, 3] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[Y:.*]]: index, %[[X:.*]]: index):
// CHECK-NEXT:    %[[S:.*]] = arith.muli %[[Y]], %[[C_2]] : index
// CHECK-NEXT:    %[[A:.*]] = arith.addi %[[S]], %[[C1]] : index
// CHECK-NEXT:    %[[B:.*]] = arith.maxsi %[[A]], %[[C0]] : index
// CHECK-NEXT:    %[[BEFORE:.*]] = arith.minsi %[[B]], %[[C3]] : index
// CHECK-NEXT:    %[[S:.*]] = arith.muli %[[Y]], %[[C_2]] : index
// CHECK-NEXT:    %[[A:.*]] = arith.addi %[[S]], %[[C6]] : index
// CHECK-NEXT:    %[[B:.*]] = arith.maxsi %[[A]], %[[C0]] : index
// CHECK-NEXT:    %[[UNTIL:.*]] = arith.minsi %[[B]], %[[C3]] : index
// CHECK-NEXT:    %[[COUNT:.*]] = arith.subi %[[UNTIL]], %[[BEFORE]] : index
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[TWO]] : f32
// CHECK:         %[[V:.*]] = te.load %[[SUM]]
// CHECK-NEXT:    arith.divf %[[V]], %[[PRODUCT]] : f32
func.func @counted(%x: tensor<1x4x5x6xf32>) -> tensor<1x4x3x3xf32> attributes {relay.primitive} {
  %0 = relay.avg_pool2d %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, padding = array<i64: 1, 0, 1, 0>} : (tensor<1x4x5x6xf32>) -> tensor<1x4x3x3xf32>
  return %0 : tensor<1x4x3x3xf32>
}

// CHECK-LABEL: te.kernel @counts_padding(
// CHECK-DAG:   %[[NINE:.*]] = arith.constant 9.000000e+00 : f32
// CHECK:       te.compute "avg_pool2d{{.*}}"
// CHECK:         arith.divf %{{.*}}, %[[NINE]] : f32
func.func @counts_padding(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> attributes {relay.primitive} {
  %0 = relay.avg_pool2d %x {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: te.kernel @global_max(
// CHECK:       te.compute "global_max_pool" axes [2, 3, 1, 1] reduce [4, 5] init [0 : i8] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[Y:.*]]: index, %[[X:.*]]: index):
// CHECK-NEXT:    te.load %arg0[%[[N]], %[[C]], %[[Y]], %[[X]]]
// CHECK:         arith.maxui
func.func @global_max(%x: tensor<2x3x4x5xui8>) -> tensor<2x3x1x1xui8> attributes {relay.primitive} {
  %0 = relay.global_max_pool %x : (tensor<2x3x4x5xui8>) -> tensor<2x3x1x1xui8>
  return %0 : tensor<2x3x1x1xui8>
}

// CHECK-LABEL: te.kernel @global_mean(
// CHECK-DAG:   %[[COUNT:.*]] = arith.constant 2.000000e+01 : f32
// CHECK:       te.compute "sum" axes [2, 3, 1, 1] reduce [4, 5] init [0.000000e+00 : f32]
// CHECK:       } : tensor<2x3x1x1xf32>
// CHECK:       te.compute "global_avg_pool{{.*}}"
// CHECK:         %[[MEAN:.*]] = arith.divf %{{.*}}, %[[COUNT]] : f32
// CHECK-NEXT:    arith.truncf %[[MEAN]] : f32 to f16
func.func @global_mean(%x: tensor<2x3x4x5xf16>) -> tensor<2x3x1x1xf16> attributes {relay.primitive} {
  %0 = relay.global_avg_pool %x : (tensor<2x3x4x5xf16>) -> tensor<2x3x1x1xf16>
  return %0 : tensor<2x3x1x1xf16>
}
