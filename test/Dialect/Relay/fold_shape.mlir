// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @nothing_moves
// CHECK-NEXT:    return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @nothing_moves(%x: tensor<2x3xf32>) -> (
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.reshape %x {shape = array<i64: 2, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.transpose %x {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relay.squeeze %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relay.expand_dims %x {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = relay.broadcast_to %x {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relay.concat %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = relay.slice %x {begin = array<i64: 0, -3>, end = array<i64: 9, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = relay.pad %x {padding = array<i64: 0, 0, 0, 0>, mode = "reflect"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = relay.tile %x {reps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = relay.reverse %x {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = relay.split %x {axis = 1 : i64, sections = array<i64: 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 :
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// The type stays and the elements move.
// CHECK-LABEL: func.func @something_moves
// CHECK-NEXT:    relay.transpose
// CHECK-NEXT:    relay.slice
// CHECK-NEXT:    relay.pad
// CHECK-NEXT:    relay.reverse
// CHECK-NEXT:    return
func.func @something_moves(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %0 = relay.transpose %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = relay.slice %x {begin = array<i64: -1>, end = array<i64: -9>, strides = array<i64: -1>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = relay.pad %x {padding = array<i64: 1, 0, -1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = relay.reverse %x {axes = array<i64: 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0, %1, %2, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func.func @transposes
// CHECK-NEXT:    %[[T:.*]] = relay.transpose %arg0 {axes = array<i64: 2, 1, 0>}
// CHECK-NEXT:    return %[[T]], %arg0
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0, 2>} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  %2 = relay.transpose %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %3 = relay.transpose %2 : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  return %1, %3 : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT:    %[[R:.*]] = relay.reshape %arg0 {shape = array<i64: 3, -1>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    return %[[R]], %arg0
func.func @reshapes(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = relay.expand_dims %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %1 = relay.reshape %0 {shape = array<i64: 3, -1>} : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  %2 = relay.reshape %1 {shape = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// Which extent is unknown is said only by the reshape between.
// CHECK-LABEL: func.func @reshape_of_unknown
// CHECK-NEXT:    relay.reshape
// CHECK-NEXT:    relay.reshape
func.func @reshape_of_unknown(%x: tensor<?x5xf32>) -> tensor<12xf32> {
  %0 = relay.reshape %x {shape = array<i64: -1>} : (tensor<?x5xf32>) -> tensor<?xf32>
  %1 = relay.reshape %0 {shape = array<i64: 12>} : (tensor<?xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}

// -----

// CHECK-LABEL: func.func @shape_of
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[2, 3]> : tensor<2xi64>
// CHECK-NEXT:    %[[S:.*]] = relay.shape_of %arg1
// CHECK-NEXT:    return %[[C]], %[[S]]
func.func @shape_of(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>) -> (tensor<2xi64>, tensor<2xi64>) {
  %0 = relay.shape_of %x : (tensor<2x3xf32>) -> tensor<2xi64>
  %1 = relay.shape_of %y : (tensor<?x3xf32>) -> tensor<2xi64>
  return %0, %1 : tensor<2xi64>, tensor<2xi64>
}
