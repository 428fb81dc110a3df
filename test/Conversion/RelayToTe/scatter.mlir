// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Writing at computed indices: a copy of the data, then one update after another. One out of range writes nothing.

// CHECK-LABEL: te.kernel @scatter_elements(
// CHECK:        te.extern "scatter_elements"(%arg0, %arg1, %arg2)
// CHECK-NEXT:   ^bb0(
// CHECK-NEXT:   loop.for 2 serial
// CHECK:        loop.for 3 serial
// CHECK:        arith.muli %arg7, %c3
// CHECK-NEXT:   arith.addi %1, %arg8
// CHECK-NEXT:   loop.load %arg4[%2]
// CHECK-NEXT:   arith.index_cast %3 : i32 to index
// CHECK-NEXT:   arith.cmpi slt, %4, %c0
// CHECK-NEXT:   arith.addi %4, %c5
// CHECK-NEXT:   arith.select %5, %6, %4
// CHECK-NEXT:   arith.cmpi sge, %7, %c0
// CHECK-NEXT:   arith.cmpi slt, %7, %c5
// CHECK-NEXT:   arith.andi %8, %9
// CHECK-NEXT:   loop.guard %10
// CHECK-NEXT:   arith.muli %arg7, %c5
// CHECK-NEXT:   arith.addi %11, %7
// CHECK-NEXT:   loop.load %arg5[%2]
// CHECK-NEXT:   loop.store %13, %arg6[%12]
// CHECK:        {updates = 0 : i64}
// CHECK-NEXT:   te.return %0 : tensor<2x5xf32>
func.func @scatter_elements(%x: tensor<2x5xf32>, %y: tensor<2x3xi32>, %z: tensor<2x3xf32>) -> tensor<2x5xf32> attributes {relay.primitive} {
  %0 = relay.scatter_elements %x, %y, %z {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// Sums of half types are rounded after the last update.
// CHECK-LABEL: te.kernel @scatter_nd(
// CHECK:        te.extern "scatter_nd"(%arg0, %arg1, %arg2)
// CHECK:        loop.for 20 serial
// CHECK:        loop.load %arg3[%arg7]
// CHECK-NEXT:   arith.extf %2 : f16 to f32
// CHECK-NEXT:   loop.store %3, %arg6[%arg7]
// CHECK:        loop.for 3 serial
// CHECK:        loop.load %arg4[%arg7]
// CHECK-NEXT:   arith.index_cast %2 : i64 to index
// CHECK-NEXT:   arith.cmpi slt, %3, %c0
// CHECK-NEXT:   arith.addi %3, %c4
// CHECK-NEXT:   arith.select %4, %5, %3
// CHECK-NEXT:   arith.cmpi sge, %6, %c0
// CHECK-NEXT:   arith.cmpi slt, %6, %c4
// CHECK-NEXT:   arith.andi %7, %8
// CHECK-NEXT:   loop.guard %9
// CHECK-NEXT:   arith.muli %6, %c5
// CHECK-NEXT:   arith.muli %arg7, %c5
// CHECK-NEXT:   loop.for 5 serial
// CHECK:        arith.addi %11, %arg8
// CHECK-NEXT:   arith.addi %10, %arg8
// CHECK-NEXT:   loop.load %arg6[%13]
// CHECK-NEXT:   loop.load %arg5[%12]
// CHECK-NEXT:   arith.extf %15 : f16 to f32
// CHECK-NEXT:   arith.addf %14, %16
// CHECK-NEXT:   loop.store %17, %arg6[%13]
// CHECK:        te.compute "round_1" axes [4, 5] reduce [] init []
// CHECK:        te.load %0[%arg3, %arg4]
// CHECK-NEXT:   arith.truncf %2 : f32 to f16
// CHECK-NEXT:   te.yield %3
// CHECK:        te.return %1 : tensor<4x5xf16>
func.func @scatter_nd(%x: tensor<4x5xf16>, %y: tensor<3x1xi64>, %z: tensor<3x5xf16>) -> tensor<4x5xf16> attributes {relay.primitive} {
  %0 = relay.scatter_nd %x, %y, %z {reduction = "add"} : (tensor<4x5xf16>, tensor<3x1xi64>, tensor<3x5xf16>) -> tensor<4x5xf16>
  return %0 : tensor<4x5xf16>
}
