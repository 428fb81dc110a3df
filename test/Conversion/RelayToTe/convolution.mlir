// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// The data is padded as far as the windows reach; the sum holds no conditions.
// CHECK-LABEL: te.kernel @padded(
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C_1:.*]] = arith.constant -1 : index
// CHECK-DAG:   %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:       %[[PAD:.*]] = te.compute "pad" axes [1, 8, 15, 14] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[Y:.*]]: index, %[[X:.*]]: index):
// CHECK-NEXT:    %[[AT:.*]] = arith.addi %[[Y]], %[[C_1]] : index
// CHECK-NEXT:    %[[IN:.*]] = arith.cmpi sge, %[[AT]], %[[C0]] : index
// CHECK-NEXT:    te.load_if %[[IN]], %arg0[%[[N]], %[[C]], %[[AT]], %[[X]]] else %[[ZERO]]
// CHECK:       te.compute "conv2d{{.*}}" axes [1, 16, 7, 6] reduce [8, 3, 3] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[F:.*]]: index, %[[Y:.*]]: index, %[[X:.*]]: index, %[[C:.*]]: index, %[[KY:.*]]: index, %[[KX:.*]]: index):
// CHECK-NEXT:    %[[SY:.*]] = arith.muli %[[Y]], %[[C2]] : index
// CHECK-NEXT:    %[[IY:.*]] = arith.addi %[[SY]], %[[KY]] : index
// CHECK-NEXT:    %[[SX:.*]] = arith.muli %[[X]], %[[C2]] : index
// CHECK-NEXT:    %[[IX:.*]] = arith.addi %[[SX]], %[[KX]] : index
// CHECK-NEXT:    te.load %[[PAD]][%[[N]], %[[C]], %[[IY]], %[[IX]]]
// CHECK-NEXT:    te.load %arg1[%[[F]], %[[C]], %[[KY]], %[[KX]]]
func.func @padded(%x: tensor<1x8x14x14xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x7x6xf32> attributes {relay.primitive} {
  %0 = relay.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 0, 1, 0>} : (tensor<1x8x14x14xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x6xf32>
  return %0 : tensor<1x16x7x6xf32>
}

// CHECK-LABEL: te.kernel @groups(
// CHECK-DAG:   %[[IN:.*]] = arith.constant 4 : index
// CHECK-DAG:   %[[OUT:.*]] = arith.constant 3 : index
// CHECK-NOT:   "pad"
// CHECK:       ^bb0(%[[N:.*]]: index, %[[F:.*]]: index, %[[O:.*]]: index, %[[C:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:    %[[G:.*]] = arith.divui %[[F]], %[[OUT]] : index
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[G]], %[[IN]] : index
// CHECK-NEXT:    %[[CHANNEL:.*]] = arith.addi %[[FIRST]], %[[C]] : index
func.func @groups(%x: tensor<1x8x14xf32>, %w: tensor<6x4x3xf32>) -> tensor<1x6x12xf32> attributes {relay.primitive} {
  %0 = relay.conv1d %x, %w {groups = 2 : i64} : (tensor<1x8x14xf32>, tensor<6x4x3xf32>) -> tensor<1x6x12xf32>
  return %0 : tensor<1x6x12xf32>
}

// One filter a channel needs no division.
// CHECK-LABEL: te.kernel @depthwise(
// CHECK-NOT:   arith.divui
// CHECK:       ^bb0(%[[N:.*]]: index, %[[F:.*]]: index, %[[O:.*]]: index, %[[C:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:    %[[CHANNEL:.*]] = arith.addi %[[F]], %[[C]] : index
// CHECK-NOT:   arith.divui
// CHECK:       te.return
func.func @depthwise(%x: tensor<1x8x14xf32>, %w: tensor<8x1x3xf32>) -> tensor<1x8x12xf32> attributes {relay.primitive} {
  %0 = relay.conv1d %x, %w {groups = 8 : i64} : (tensor<1x8x14xf32>, tensor<8x1x3xf32>) -> tensor<1x8x12xf32>
  return %0 : tensor<1x8x12xf32>
}

// Each phase of the stride is a convolution with its share of the kernel, whose last element the second phase lacks; the
// phases then take turns.
// CHECK-LABEL: te.kernel @transpose(
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:   %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:   %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:   %[[C_1:.*]] = arith.constant -1 : index
// CHECK:       %[[PAD:.*]] = te.compute "pad" axes [1, 4, 7] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index):
// CHECK-NEXT:    %[[AT:.*]] = arith.addi %[[I]], %[[C_1]] : index
// CHECK-NEXT:    %[[FROM:.*]] = arith.cmpi sge, %[[AT]], %[[C0]] : index
// CHECK-NEXT:    %[[TO:.*]] = arith.cmpi sle, %[[AT]], %[[C4]] : index
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %[[FROM]], %[[TO]] : i1
// CHECK-NEXT:    te.load_if %[[BOTH]], %arg0[%[[N]], %[[C]], %[[AT]]] else
// CHECK:       %[[PHASES:.*]] = te.compute "conv1d_transpose{{.*}}" axes [1, 5, 2, 6] reduce [2, 2] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[Q:.*]]: index, %[[T:.*]]: index, %[[F:.*]]: index, %[[C:.*]]: index, %[[J:.*]]: index):
// CHECK:         %[[CHANNEL:.*]] = arith.addi %{{.*}}, %[[C]] : index
// CHECK-NEXT:    %[[FILTER:.*]] = arith.remui %[[F]], %[[C3]] : index
// CHECK-NEXT:    %[[P:.*]] = arith.addi %[[T]], %[[C1]] : index
// CHECK-NEXT:    %[[CARRY:.*]] = arith.divui %[[P]], %[[C2]] : index
// CHECK-NEXT:    %[[FROM:.*]] = arith.addi %[[Q]], %[[CARRY]] : index
// CHECK-NEXT:    %[[BACK:.*]] = arith.subi %[[C1]], %[[J]] : index
// CHECK-NEXT:    %[[I:.*]] = arith.addi %[[FROM]], %[[BACK]] : index
// CHECK-NEXT:    %[[R:.*]] = arith.remui %[[P]], %[[C2]] : index
// CHECK-NEXT:    %[[S:.*]] = arith.muli %[[J]], %[[C2]] : index
// CHECK-NEXT:    %[[K:.*]] = arith.addi %[[R]], %[[S]] : index
// CHECK-NEXT:    %[[IN:.*]] = arith.cmpi slt, %[[K]], %[[C3]] : index
// CHECK-NEXT:    te.load_if %[[IN]], %arg1[%[[CHANNEL]], %[[FILTER]], %[[K]]] else
// CHECK-NEXT:    te.load %[[PAD]][%[[N]], %[[CHANNEL]], %[[I]]]
// CHECK:       te.compute "phases{{.*}}" axes [1, 6, 10] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[F:.*]]: index, %[[O:.*]]: index):
// CHECK-NEXT:    %[[Q:.*]] = arith.divui %[[O]], %[[C2]] : index
// CHECK-NEXT:    %[[T:.*]] = arith.remui %[[O]], %[[C2]] : index
// CHECK-NEXT:    te.load %[[PHASES]][%[[N]], %[[Q]], %[[T]], %[[F]]]
func.func @transpose(%x: tensor<1x4x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x6x10xf32> attributes {relay.primitive} {
  %0 = relay.conv1d_transpose %x, %w {groups = 2 : i64, strides = array<i64: 2>, padding = array<i64: 1, 1>, output_padding = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<4x3x3xf32>) -> tensor<1x6x10xf32>
  return %0 : tensor<1x6x10xf32>
}

// With dilation the data is spread by the stride, and the kernel runs backwards.
// CHECK-LABEL: te.kernel @dilated_transpose(
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C2:.*]] = arith.constant 2 : index
// CHECK:       %[[SPREAD:.*]] = te.compute "pad" axes
// CHECK:         %[[REST:.*]] = arith.remui %[[SAFE:.*]], %[[C2]] : index
// CHECK-NEXT:    %[[ON:.*]] = arith.cmpi eq, %[[REST]], %[[C0]] : index
// CHECK-NEXT:    %[[ELEMENT:.*]] = arith.divui %[[SAFE]], %[[C2]] : index
// CHECK:         %[[BOTH:.*]] = arith.andi %{{.*}}, %[[ON]] : i1
// CHECK-NEXT:    te.load_if %[[BOTH]], %arg0[%{{.*}}, %{{.*}}, %[[ELEMENT]]] else
// CHECK:       te.compute "conv1d_transpose{{.*}}" axes [1, 3, 11] reduce [4, 3]
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[F:.*]]: index, %[[O:.*]]: index, %[[C:.*]]: index, %[[K:.*]]: index):
// CHECK:         %[[BACK:.*]] = arith.subi %[[C2]], %[[K]] : index
// CHECK:         te.load %[[SPREAD]]
// CHECK-NEXT:    te.load %arg1[%[[C]], %[[F]], %[[BACK]]]
func.func @dilated_transpose(%x: tensor<1x4x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x3x11xf32> attributes {relay.primitive} {
  %0 = relay.conv1d_transpose %x, %w {strides = array<i64: 2>, dilation = array<i64: 2>, padding = array<i64: 1, 1>} : (tensor<1x4x5xf32>, tensor<4x3x3xf32>) -> tensor<1x3x11xf32>
  return %0 : tensor<1x3x11xf32>
}

// Data of one element in space is a product of matrices, without padding.
// CHECK-LABEL: te.kernel @transpose_of_one(
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-NOT:   "pad"
// CHECK:       te.compute "conv1d_transpose" axes [2, 3, 2] reduce [4] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[F:.*]]: index, %[[O:.*]]: index, %[[C:.*]]: index):
// CHECK-NEXT:    %[[K:.*]] = arith.addi %[[O]], %[[C1]] : index
// CHECK-NEXT:    te.load %arg1[%[[C]], %[[F]], %[[K]]]
// CHECK-NEXT:    te.load %arg0[%[[N]], %[[C]], %[[C0]]]
func.func @transpose_of_one(%x: tensor<2x4x1xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x3x2xf32> attributes {relay.primitive} {
  %0 = relay.conv1d_transpose %x, %w {strides = array<i64: 2>, padding = array<i64: 1, 1>, output_padding = array<i64: 1>} : (tensor<2x4x1xf32>, tensor<4x3x3xf32>) -> tensor<2x3x2xf32>
  return %0 : tensor<2x3x2xf32>
}

// Of data without elements nothing is loaded.
// CHECK-LABEL: te.kernel @transpose_of_nothing(
// CHECK:       te.compute "pad" axes [1, 2, 4] reduce [] init [] {
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    te.yield
func.func @transpose_of_nothing(%x: tensor<1x2x0xf32>, %w: tensor<2x3x3xf32>) -> tensor<1x3x2xf32> attributes {relay.primitive} {
  %0 = relay.conv1d_transpose %x, %w : (tensor<1x2x0xf32>, tensor<2x3x3xf32>) -> tensor<1x3x2xf32>
  return %0 : tensor<1x3x2xf32>
}
