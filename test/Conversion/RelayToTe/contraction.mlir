// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// CHECK-LABEL: te.kernel @matmul(
// CHECK-SAME:    %[[A:.*]]: tensor<4x2x3xf32>, %[[B:.*]]: tensor<3x5xf32>)
// CHECK:         %[[C:.*]] = te.compute "matmul" axes [4, 2, 5] reduce [3] init [0.000000e+00 : f32] {
// CHECK-NEXT:    ^bb0(%[[N:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:      %[[X:.*]] = te.load %[[A]][%[[N]], %[[I]], %[[K]]]
// CHECK-NEXT:      %[[Y:.*]] = te.load %[[B]][%[[K]], %[[J]]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK-NEXT:      te.yield %[[P]] : f32
// CHECK-NEXT:    } combine {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: f32, %[[NEW:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[SUM]], %[[NEW]] : f32
// CHECK:         te.return %[[C]]
func.func @matmul(%a: tensor<4x2x3xf32>, %b: tensor<3x5xf32>) -> tensor<4x2x5xf32> attributes {relay.primitive} {
  %0 = relay.matmul %a, %b : (tensor<4x2x3xf32>, tensor<3x5xf32>) -> tensor<4x2x5xf32>
  return %0 : tensor<4x2x5xf32>
}

// Transposed operands swap their indices, leading dimensions of 1 stay at 0.
// CHECK-LABEL: te.kernel @transposed(
// CHECK:       %[[C0:.*]] = arith.constant 0 : index
// CHECK:       ^bb0(%[[M:.*]]: index, %[[N:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:    te.load %arg0[%[[M]], %[[C0]], %[[K]], %[[I]]]
// CHECK-NEXT:    te.load %arg1[%[[N]], %[[J]], %[[K]]]
func.func @transposed(%a: tensor<6x1x3x2xf32>, %b: tensor<4x5x3xf32>) -> tensor<6x4x2x5xf32> attributes {relay.primitive} {
  %0 = relay.matmul %a, %b {transpose_a = true, transpose_b = true} : (tensor<6x1x3x2xf32>, tensor<4x5x3xf32>) -> tensor<6x4x2x5xf32>
  return %0 : tensor<6x4x2x5xf32>
}

// Half types are accumulated in f32 and rounded once.
// CHECK-LABEL: te.kernel @half(
// CHECK:       te.compute "batch_matmul" axes [4, 2, 5] reduce [3] init [0.000000e+00 : f32]
// CHECK:         arith.extf {{.*}} : bf16 to f32
// CHECK:       } : tensor<4x2x5xf32>
// CHECK:       te.compute "round{{.*}}" axes [4, 2, 5] reduce [] init []
// CHECK:         arith.truncf {{.*}} : f32 to bf16
// CHECK:       } : tensor<4x2x5xbf16>
func.func @half(%a: tensor<4x2x3xbf16>, %b: tensor<4x3x5xbf16>) -> tensor<4x2x5xbf16> attributes {relay.primitive} {
  %0 = relay.batch_matmul %a, %b : (tensor<4x2x3xbf16>, tensor<4x3x5xbf16>) -> tensor<4x2x5xbf16>
  return %0 : tensor<4x2x5xbf16>
}

// Integers are accumulated in their type; over nothing the sum is 0.
// CHECK-LABEL: te.kernel @empty_sum(
// CHECK:       te.compute "dense" axes [2, 4] reduce [0] init [0 : i8] {
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index, %[[N:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:    te.load %arg0[%[[I]], %[[K]]]
// CHECK-NEXT:    te.load %arg1[%[[N]], %[[K]]]
// CHECK-NEXT:    arith.muli {{.*}} : i8
// CHECK:         arith.addi {{.*}} : i8
func.func @empty_sum(%x: tensor<2x0xi8>, %w: tensor<4x0xi8>) -> tensor<2x4xi8> attributes {relay.primitive} {
  %0 = relay.dense %x, %w : (tensor<2x0xi8>, tensor<4x0xi8>) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// With out_dtype, both operands are widened before they are multiplied.
// CHECK-LABEL: te.kernel @widened(
// CHECK:       te.compute "matmul" axes [2, 4] reduce [8] init [0 : i32] {
// CHECK:         %[[A:.*]] = te.load %arg0[{{.*}}] : tensor<2x8xui8> -> i8
// CHECK:         %[[B:.*]] = te.load %arg1[{{.*}}] : tensor<8x4xi8> -> i8
// CHECK-DAG:     %[[X:.*]] = arith.extui %[[A]] : i8 to i32
// CHECK-DAG:     %[[Y:.*]] = arith.extsi %[[B]] : i8 to i32
// CHECK:         arith.muli %[[X]], %[[Y]] : i32
func.func @widened(%x: tensor<2x8xui8>, %w: tensor<8x4xi8>) -> tensor<2x4xi32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w {out_dtype = i32} : (tensor<2x8xui8>, tensor<8x4xi8>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
