// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Movements: the places are affine, or quotients and remainders, wherever they can be.

// Runs of axes with the same number of elements are mapped one by one.
// CHECK-LABEL: te.kernel @reshape(
// CHECK:        te.compute "reshape" axes [6, 2, 2] reduce [] init []
// CHECK:        arith.divui %arg1, %c3
// CHECK-NEXT:   arith.remui %arg1, %c3
// CHECK-NEXT:   arith.muli %arg2, %c2
// CHECK-NEXT:   arith.addi %3, %arg3
// CHECK-NEXT:   te.load %arg0[%1, %2, %4]
// CHECK-NEXT:   te.yield %5
// CHECK:        te.return %0 : tensor<6x2x2xf32>
func.func @reshape(%x: tensor<2x3x4xf32>) -> tensor<6x2x2xf32> attributes {relay.primitive} {
  %0 = relay.reshape %x {shape = array<i64: 6, 2, 2>} : (tensor<2x3x4xf32>) -> tensor<6x2x2xf32>
  return %0 : tensor<6x2x2xf32>
}

// Axes of extent 1 have the place 0.
// CHECK-LABEL: te.kernel @squeeze(
// CHECK:        te.compute "squeeze" axes [3, 1] reduce [] init []
// CHECK:        te.load %arg0[%c0, %arg1, %c0]
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<3x1xf32>
func.func @squeeze(%x: tensor<1x3x1xf32>) -> tensor<3x1xf32> attributes {relay.primitive} {
  %0 = relay.squeeze %x {axes = array<i64: 0>} : (tensor<1x3x1xf32>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// CHECK-LABEL: te.kernel @expand_dims(
// CHECK:        te.compute "expand_dims" axes [3, 1, 4] reduce [] init []
// CHECK:        te.load %arg0[%arg1, %arg3]
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<3x1x4xf32>
func.func @expand_dims(%x: tensor<3x4xf32>) -> tensor<3x1x4xf32> attributes {relay.primitive} {
  %0 = relay.expand_dims %x {axes = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// Without elements any place will do.
// CHECK-LABEL: te.kernel @reshape_empty(
// CHECK:        te.compute "reshape" axes [3, 0] reduce [] init []
// CHECK:        te.load %arg0[%c0, %c0]
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<3x0xf32>
func.func @reshape_empty(%x: tensor<0x4xf32>) -> tensor<3x0xf32> attributes {relay.primitive} {
  %0 = relay.reshape %x {shape = array<i64: 3, 0>} : (tensor<0x4xf32>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}

// CHECK-LABEL: te.kernel @transpose(
// CHECK:        te.compute "transpose" axes [4, 2, 3] reduce [] init []
// CHECK:        te.load %arg0[%arg2, %arg3, %arg1]
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<4x2x3xi8>
func.func @transpose(%x: tensor<2x3x4xi8>) -> tensor<4x2x3xi8> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  return %0 : tensor<4x2x3xi8>
}

// CHECK-LABEL: te.kernel @broadcast_to(
// CHECK:        te.compute "broadcast_to" axes [2, 3, 4] reduce [] init []
// CHECK:        te.load %arg0[%arg2, %c0]
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<2x3x4xf32>
func.func @broadcast_to(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> attributes {relay.primitive} {
  %0 = relay.broadcast_to %x {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// All parts are loaded, inside of them, and one is chosen; the empty one is not loaded.
// CHECK-LABEL: te.kernel @concat(
// CHECK:        te.compute "concat" axes [2, 8] reduce [] init []
// CHECK:        arith.cmpi slt, %arg4, %c3
// CHECK-NEXT:   te.load_if %1, %arg0[%arg3, %arg4] else %cst
// CHECK-NEXT:   arith.addi %arg4, %c-3
// CHECK-NEXT:   arith.cmpi sge, %arg4, %c3
// CHECK-NEXT:   te.load_if %4, %arg2[%arg3, %3] else %2
// CHECK-NEXT:   te.yield %5
// CHECK:        te.return %0 : tensor<2x8xf32>
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x0xf32>, %z: tensor<2x5xf32>) -> tensor<2x8xf32> attributes {relay.primitive} {
  %0 = relay.concat %x, %y, %z {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Many parts are joined in groups first.
// CHECK-LABEL:  te.kernel @concat_in_groups(
// CHECK-COUNT-4: te.compute "concat{{(_[0-9])?}}" axes [4]
// CHECK:        te.compute "concat_4" axes [1]
// CHECK:        te.compute "concat_5" axes [17]
// CHECK-COUNT-5: te.load_if
// CHECK-NOT:    te.load_if
// CHECK:        te.return
func.func @concat_in_groups(%x0: tensor<1xf32>, %x1: tensor<1xf32>, %x2: tensor<1xf32>, %x3: tensor<1xf32>, %x4: tensor<1xf32>, %x5: tensor<1xf32>, %x6: tensor<1xf32>, %x7: tensor<1xf32>, %x8: tensor<1xf32>, %x9: tensor<1xf32>, %x10: tensor<1xf32>, %x11: tensor<1xf32>, %x12: tensor<1xf32>, %x13: tensor<1xf32>, %x14: tensor<1xf32>, %x15: tensor<1xf32>, %x16: tensor<1xf32>) -> tensor<17xf32> attributes {relay.primitive} {
  %0 = relay.concat %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16 {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<17xf32>
  return %0 : tensor<17xf32>
}

// CHECK-LABEL: te.kernel @split(
// CHECK:        te.compute "split" axes [1] reduce [] init []
// CHECK:        te.load %arg0[%arg1]
// CHECK-NEXT:   te.yield %2
// CHECK:        te.compute "split_1" axes [4] reduce [] init []
// CHECK:        arith.addi %arg1, %c1
// CHECK-NEXT:   te.load %arg0[%2]
// CHECK-NEXT:   te.yield %3
// CHECK:        te.return %0, %1 : tensor<1xf32>, tensor<4xf32>
func.func @split(%x: tensor<5xf32>) -> (tensor<1xf32>, tensor<4xf32>) attributes {relay.primitive} {
  %0:2 = relay.split %x {axis = 0 : i64, sections = array<i64: 1, 4>} : (tensor<5xf32>) -> (tensor<1xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<4xf32>
}

// The first element of a slice of one is known.
// CHECK-LABEL: te.kernel @slice(
// CHECK:        te.compute "slice" axes [1, 3] reduce [] init []
// CHECK:        arith.muli %arg2, %c-2
// CHECK-NEXT:   arith.addi %1, %c5
// CHECK-NEXT:   te.load %arg0[%c1, %2]
// CHECK-NEXT:   te.yield %3
// CHECK:        te.return %0 : tensor<1x3xf32>
func.func @slice(%x: tensor<4x6xf32>) -> tensor<1x3xf32> attributes {relay.primitive} {
  %0 = relay.slice %x {begin = array<i64: 1, -1>, end = array<i64: 9, -100>, strides = array<i64: 3, -2>} : (tensor<4x6xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// CHECK-LABEL: te.kernel @tile(
// CHECK:        te.compute "tile" axes [2, 12] reduce [] init []
// CHECK:        arith.remui %arg2, %c4
// CHECK-NEXT:   te.load %arg0[%arg1, %1]
// CHECK-NEXT:   te.yield %2
// CHECK:        te.return %0 : tensor<2x12xf32>
func.func @tile(%x: tensor<2x4xf32>) -> tensor<2x12xf32> attributes {relay.primitive} {
  %0 = relay.tile %x {reps = array<i64: 1, 3>} : (tensor<2x4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: te.kernel @reverse(
// CHECK:        te.compute "reverse" axes [2, 4] reduce [] init []
// CHECK:        arith.subi %c3, %arg2
// CHECK-NEXT:   te.load %arg0[%arg1, %1]
// CHECK-NEXT:   te.yield %2
// CHECK:        te.return %0 : tensor<2x4xf32>
func.func @reverse(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {relay.primitive} {
  %0 = relay.reverse %x {axes = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
