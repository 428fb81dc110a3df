// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te.kernel(canonicalize,cse,te-merge,canonicalize,cse))' --split-input-file | FileCheck %s

// A result that another reads is stored on the way.
// CHECK-LABEL: te.kernel @chain(
// CHECK:         %[[R:.*]]:2 = te.compute "add_relu_1" axes [8]
// CHECK:           %[[S:.*]] = arith.addf
// CHECK-NEXT:      %[[T:.*]] = arith.maximumf %[[S]],
// CHECK-NEXT:      te.yield %[[S]], %[[T]]
// CHECK-NOT:     te.compute
// CHECK:         te.return %[[R]]#0, %[[R]]#1
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {relay.primitive} {
  %0 = relay.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What both read is computed once, whatever it costs; so is what is between two results.
// CHECK-LABEL: te.kernel @between(
// CHECK:         %[[R:.*]]:3 = te.compute {{.*}} axes [8]
// CHECK:           math.exp
// CHECK-NOT:       math.exp
// CHECK:           te.yield
// CHECK-NOT:     te.compute
// CHECK:         te.return
func.func @between(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {relay.primitive} {
  %0 = relay.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relay.sqrt %1 : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relay.neg %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Reductions of the same elements read them once.
// CHECK-LABEL: te.kernel @moments(
// CHECK:         te.compute "mul"
// CHECK:         %[[R:.*]]:2 = te.compute "reduce_sum_1_reduce_sum_2" axes [4] reduce [64]
// CHECK:         combine
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[A]], %[[C]]
// CHECK-NEXT:      arith.addf %[[B]], %[[D]]
// CHECK:         te.return %[[R]]#0, %[[R]]#1
func.func @moments(%x: tensor<4x64xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {relay.primitive} {
  %0 = relay.mul %x, %x : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4xf32>
  %2 = relay.reduce_sum %0 {axes = array<i64: 1>} : (tensor<4x64xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A contraction that is a result as well is stored by its epilogue.
// CHECK-LABEL: te.kernel @epilogue(
// CHECK:         %[[M:.*]] = te.compute "matmul"
// CHECK:         %[[R:.*]]:2 = te.compute "matmul_stored_relu_1" axes [16, 32]
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:      %[[E:.*]] = te.load %[[M]][%[[I]], %[[J]]]
// CHECK-NEXT:      %[[P:.*]] = arith.maximumf %[[E]],
// CHECK-NEXT:      te.yield %[[E]], %[[P]]
// CHECK:         te.return %[[R]]#0, %[[R]]#1
func.func @epilogue(%x: tensor<16x8xf32>, %w: tensor<8x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %1 = relay.relu %0 : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0, %1 : tensor<16x32xf32>, tensor<16x32xf32>
}

// -----

// So is a sum that goes over rows that are reduced.
// CHECK-LABEL: te.kernel @rows(
// CHECK:         %[[H:.*]] = te.compute "add"
// CHECK:         %[[R:.*]]:2 = te.compute "add_stored_softmax_4"
// CHECK:         te.return %[[R]]#0, %[[R]]#1
func.func @rows(%x: tensor<16x64xf32>, %y: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) attributes {relay.primitive} {
  %0 = relay.add %x, %y : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %1 = relay.softmax %0 {axis = -1 : i64} : (tensor<16x64xf32>) -> tensor<16x64xf32>
  return %0, %1 : tensor<16x64xf32>, tensor<16x64xf32>
}

// -----

// What goes over other points, or has a reduction between, stays apart.
// CHECK-LABEL: te.kernel @apart(
// CHECK:         te.compute "neg" axes [64, 4]
// CHECK:         te.compute "reduce_sum_1" axes [4] reduce [64]
// CHECK:         te.compute "exp_2" axes [4]
// CHECK:         te.compute "sub_3" axes [64, 4]
func.func @apart(%x: tensor<64x4xf32>) -> (tensor<64x4xf32>, tensor<4xf32>, tensor<64x4xf32>) attributes {relay.primitive} {
  %0 = relay.neg %x : (tensor<64x4xf32>) -> tensor<64x4xf32>
  %1 = relay.reduce_sum %0 {axes = array<i64: 0>} : (tensor<64x4xf32>) -> tensor<4xf32>
  %2 = relay.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.sub %0, %2 : (tensor<64x4xf32>, tensor<4xf32>) -> tensor<64x4xf32>
  return %0, %2, %3 : tensor<64x4xf32>, tensor<4xf32>, tensor<64x4xf32>
}

// -----

// A kernel of one result is left as it is.
// CHECK-LABEL: te.kernel @single(
// CHECK:         te.compute "exp"
// CHECK:         te.compute "add_1"
func.func @single(%x: tensor<8xf32>) -> tensor<8xf32> attributes {relay.primitive} {
  %0 = relay.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relay.add %0, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Indices of the greatest and of the least: the joined reduction keeps the numbers as well, which nobody reads behind it.
// CHECK-LABEL: te.kernel @both_ends(
// CHECK:         %[[R:.*]]:4 = te.compute "argmax_argmin_2" axes [3] reduce [5]
// CHECK:         %[[P:.*]]:2 = te.compute "argmax_1_argmin_3" axes [3]
// CHECK:         te.load %[[R]]#1
// CHECK:         te.load %[[R]]#3
// CHECK:         te.return %[[P]]#0, %[[P]]#1
func.func @both_ends(%x: tensor<3x5xf32>) -> (tensor<3xi64>, tensor<3xi64>) attributes {relay.primitive} {
  %0 = relay.argmax %x {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3xi64>
  %1 = relay.argmin %x {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3xi64>
  return %0, %1 : tensor<3xi64>, tensor<3xi64>
}
