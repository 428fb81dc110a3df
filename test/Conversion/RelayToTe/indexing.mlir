// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Reading at computed indices: negative ones count from the back, others are moved to the nearer end.

// CHECK-LABEL: te.kernel @gather(
// CHECK:        te.compute "gather" axes [2, 4, 3] reduce [] init []
// CHECK:        te.load %arg1[%arg3]
// CHECK-NEXT:   arith.index_cast %1 : i32 to index
// CHECK-NEXT:   arith.cmpi slt, %2, %c0
// CHECK-NEXT:   arith.addi %2, %c5
// CHECK-NEXT:   arith.select %3, %4, %2
// CHECK-NEXT:   arith.maxsi %5, %c0
// CHECK-NEXT:   arith.minsi %6, %c4
// CHECK-NEXT:   te.load %arg0[%arg2, %7, %arg4]
// CHECK-NEXT:   te.yield %8
// CHECK:        te.return %0 : tensor<2x4x3xf32>
func.func @gather(%x: tensor<2x5x3xf32>, %y: tensor<4xi32>) -> tensor<2x4x3xf32> attributes {relay.primitive} {
  %0 = relay.gather %x, %y {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<4xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: te.kernel @gather_elements(
// CHECK:        te.compute "gather_elements" axes [2, 3] reduce [] init []
// CHECK:        te.load %arg1[%arg2, %arg3]
// CHECK-NEXT:   arith.index_cast %1 : i64 to index
// CHECK-NEXT:   arith.cmpi slt, %2, %c0
// CHECK-NEXT:   arith.addi %2, %c5
// CHECK-NEXT:   arith.select %3, %4, %2
// CHECK-NEXT:   arith.maxsi %5, %c0
// CHECK-NEXT:   arith.minsi %6, %c4
// CHECK-NEXT:   te.load %arg0[%7, %arg3]
// CHECK-NEXT:   te.yield %8
// CHECK:        te.return %0 : tensor<2x3xf32>
func.func @gather_elements(%x: tensor<5x3xf32>, %y: tensor<2x3xi64>) -> tensor<2x3xf32> attributes {relay.primitive} {
  %0 = relay.gather_elements %x, %y {axis = 0 : i64} : (tensor<5x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: te.kernel @gather_nd(
// CHECK:        te.compute "gather_nd" axes [2, 4, 3] reduce [] init []
// CHECK:        te.load %arg1[%arg2, %arg3, %c0]
// CHECK-NEXT:   arith.index_cast %1 : i64 to index
// CHECK-NEXT:   arith.cmpi slt, %2, %c0
// CHECK-NEXT:   arith.addi %2, %c5
// CHECK-NEXT:   arith.select %3, %4, %2
// CHECK-NEXT:   arith.maxsi %5, %c0
// CHECK-NEXT:   arith.minsi %6, %c4
// CHECK-NEXT:   te.load %arg1[%arg2, %arg3, %c1]
// CHECK-NEXT:   arith.index_cast %8 : i64 to index
// CHECK-NEXT:   arith.cmpi slt, %9, %c0
// CHECK-NEXT:   arith.addi %9, %c6
// CHECK-NEXT:   arith.select %10, %11, %9
// CHECK-NEXT:   arith.maxsi %12, %c0
// CHECK-NEXT:   arith.minsi %13, %c5
// CHECK-NEXT:   te.load %arg0[%arg2, %7, %14, %arg4]
// CHECK-NEXT:   te.yield %15
// CHECK:        te.return %0 : tensor<2x4x3xf32>
func.func @gather_nd(%x: tensor<2x5x6x3xf32>, %y: tensor<2x4x2xi64>) -> tensor<2x4x3xf32> attributes {relay.primitive} {
  %0 = relay.gather_nd %x, %y {batch_dims = 1 : i64} : (tensor<2x5x6x3xf32>, tensor<2x4x2xi64>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// Nothing is loaded from an axis without elements.
// CHECK-LABEL: te.kernel @gather_of_nothing(
// CHECK:        te.compute "gather" axes [2, 3] reduce [] init []
// CHECK:        te.yield %cst
// CHECK:        te.return %0 : tensor<2x3xf32>
func.func @gather_of_nothing(%x: tensor<0x3xf32>, %y: tensor<2xi64>) -> tensor<2x3xf32> attributes {relay.primitive} {
  %0 = relay.gather %x, %y : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// An index from the back is one less by the depth.
// CHECK-LABEL: te.kernel @one_hot(
// CHECK:        te.compute "one_hot" axes [3, 4] reduce [] init []
// CHECK:        te.load %arg0[%arg3]
// CHECK-NEXT:   arith.extsi %1 : i32 to i64
// CHECK-NEXT:   arith.index_cast %arg4 : index to i64
// CHECK-NEXT:   arith.cmpi eq, %2, %3
// CHECK-NEXT:   arith.addi %arg4, %c-4
// CHECK-NEXT:   arith.index_cast %5 : index to i64
// CHECK-NEXT:   arith.cmpi eq, %2, %6
// CHECK-NEXT:   arith.ori %4, %7
// CHECK-NEXT:   te.load %arg1[]
// CHECK-NEXT:   te.load %arg2[]
// CHECK-NEXT:   arith.select %8, %9, %10
// CHECK-NEXT:   te.yield %11
// CHECK:        te.return %0 : tensor<3x4xf32>
func.func @one_hot(%x: tensor<3xi32>, %y: tensor<f32>, %z: tensor<f32>) -> tensor<3x4xf32> attributes {relay.primitive} {
  %0 = relay.one_hot %x, %y, %z {depth = 4 : i64} : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Unsigned indices are not from the back.
// CHECK-LABEL: te.kernel @one_hot_unsigned(
// CHECK:        te.compute "one_hot" axes [4, 3] reduce [] init []
// CHECK:        te.load %arg0[%arg4]
// CHECK-NEXT:   arith.extui %1 : i8 to i64
// CHECK-NEXT:   arith.index_cast %arg3 : index to i64
// CHECK-NEXT:   arith.cmpi eq, %2, %3
// CHECK-NEXT:   te.load %arg1[]
// CHECK-NEXT:   te.load %arg2[]
// CHECK-NEXT:   arith.select %4, %5, %6
// CHECK-NEXT:   te.yield %7
// CHECK:        te.return %0 : tensor<4x3xf32>
func.func @one_hot_unsigned(%x: tensor<3xui8>, %y: tensor<f32>, %z: tensor<f32>) -> tensor<4x3xf32> attributes {relay.primitive} {
  %0 = relay.one_hot %x, %y, %z {depth = 4 : i64, axis = 0 : i64} : (tensor<3xui8>, tensor<f32>, tensor<f32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
