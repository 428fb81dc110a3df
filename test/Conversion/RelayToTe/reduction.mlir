// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Reductions: half types are accumulated in f32 and rounded at the end.

// CHECK-LABEL: te.kernel @sum(
// CHECK:        te.compute "reduce_sum" axes [4] reduce [5] init [0.000000e+00 : f32]
// CHECK:        te.load %arg0[%arg1, %arg2]
// CHECK-NEXT:   te.yield %1
// CHECK:        arith.addf %arg1, %arg2
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<4xf32>
func.func @sum(%x: tensor<4x5xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An axis of extent 1 needs no loop.
// CHECK-LABEL: te.kernel @mean(
// CHECK:        te.compute "reduce_mean" axes [1, 1, 9] reduce [4] init [0.000000e+00 : f32]
// CHECK:        te.load %arg0[%arg4, %c0, %arg3]
// CHECK-NEXT:   arith.extf %2 : bf16 to f32
// CHECK-NEXT:   te.yield %3
// CHECK:        arith.addf %arg1, %arg2
// CHECK-NEXT:   te.yield %2
// CHECK:        te.compute "mean_1" axes [1, 1, 9] reduce [] init []
// CHECK:        te.load %0[%arg1, %arg2, %arg3]
// CHECK-NEXT:   arith.divf %2, %cst
// CHECK-NEXT:   arith.truncf %3 : f32 to bf16
// CHECK-NEXT:   te.yield %4
// CHECK:        te.return %1 : tensor<1x1x9xbf16>
func.func @mean(%x: tensor<4x1x9xbf16>) -> tensor<1x1x9xbf16> attributes {relay.primitive} {
  %0 = relay.reduce_mean %x {axes = array<i64: 0, 1>, keepdims = true} : (tensor<4x1x9xbf16>) -> tensor<1x1x9xbf16>
  return %0 : tensor<1x1x9xbf16>
}

// CHECK-LABEL: te.kernel @max(
// CHECK:        te.compute "reduce_max" axes [] reduce [4, 5] init [0 : i8]
// CHECK:        te.load %arg0[%arg1, %arg2]
// CHECK-NEXT:   te.yield %1
// CHECK:        arith.maxui %arg1, %arg2
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<ui8>
func.func @max(%x: tensor<4x5xui8>) -> tensor<ui8> attributes {relay.primitive} {
  %0 = relay.reduce_max %x : (tensor<4x5xui8>) -> tensor<ui8>
  return %0 : tensor<ui8>
}

// Of booleans, a sum is or.
// CHECK-LABEL: te.kernel @sum_of_booleans(
// CHECK:        te.compute "reduce_sum" axes [] reduce [4] init [false]
// CHECK:        te.load %arg0[%arg1]
// CHECK-NEXT:   te.yield %1
// CHECK:        arith.ori %arg1, %arg2
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<i1>
func.func @sum_of_booleans(%x: tensor<4xi1>) -> tensor<i1> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>
  return %0 : tensor<i1>
}

// Over no axes nothing is reduced.
// CHECK-LABEL: te.kernel @over_nothing(
// CHECK:        te.compute "reduce_prod" axes [4] reduce [] init []
// CHECK:        te.load %arg0[%arg1]
// CHECK-NEXT:   te.yield %1
// CHECK:        te.return %0 : tensor<4xf32>
func.func @over_nothing(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %0 = relay.reduce_prod %x {axes = array<i64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Pairs of a value and its place; among equals the first. Places of a short axis have 32 bits until the end.
// CHECK-LABEL: te.kernel @argmax(
// CHECK:        te.compute "argmax" axes [4] reduce [5] init [-2147483648 : i32, 2147483647 : i32]
// CHECK:        te.load %arg0[%arg1, %arg2]
// CHECK-NEXT:   arith.index_cast %arg2 : index to i32
// CHECK-NEXT:   te.yield %2, %3
// CHECK:        arith.cmpi sle, %arg1, %arg3
// CHECK-NEXT:   arith.cmpi slt, %arg4, %arg2
// CHECK-NEXT:   arith.andi %2, %3
// CHECK-NEXT:   arith.cmpi sgt, %arg3, %arg1
// CHECK-NEXT:   arith.ori %5, %4
// CHECK-NEXT:   arith.select %6, %arg3, %arg1
// CHECK-NEXT:   arith.select %6, %arg4, %arg2
// CHECK-NEXT:   te.yield %7, %8
// CHECK:        %1 = te.compute "argmax_1" axes [4]
// CHECK:        arith.extsi %{{.*}} : i32 to i64
// CHECK:        te.return %1 : tensor<4xi64>
func.func @argmax(%x: tensor<4x5xi32>) -> tensor<4xi64> attributes {relay.primitive} {
  %0 = relay.argmax %x {axis = 1 : i64} : (tensor<4x5xi32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// NaN is ahead of all numbers; among equals the last.
// CHECK-LABEL: te.kernel @argmin(
// CHECK:        te.compute "argmin" axes [1, 5] reduce [4] init [0x7F800000 : f32, -1 : i32]
// CHECK:        te.load %arg0[%arg3, %arg2]
// CHECK-NEXT:   arith.index_cast %arg3 : index to i32
// CHECK-NEXT:   te.yield %2, %3
// CHECK:        arith.cmpf olt, %arg1, %arg3
// CHECK-NEXT:   arith.cmpf une, %arg1, %arg1
// CHECK-NEXT:   arith.cmpf oeq, %arg3, %arg3
// CHECK-NEXT:   arith.andi %3, %4
// CHECK-NEXT:   arith.ori %2, %5
// CHECK-NEXT:   arith.xori %6, %true
// CHECK-NEXT:   arith.cmpi sgt, %arg4, %arg2
// CHECK-NEXT:   arith.andi %7, %8
// CHECK-NEXT:   arith.cmpf olt, %arg3, %arg1
// CHECK-NEXT:   arith.cmpf une, %arg3, %arg3
// CHECK-NEXT:   arith.cmpf oeq, %arg1, %arg1
// CHECK-NEXT:   arith.andi %11, %12
// CHECK-NEXT:   arith.ori %10, %13
// CHECK-NEXT:   arith.ori %14, %9
// CHECK-NEXT:   arith.select %15, %arg3, %arg1
// CHECK-NEXT:   arith.select %15, %arg4, %arg2
// CHECK-NEXT:   te.yield %16, %17
// CHECK:        %1 = te.compute "argmin_1" axes [1, 5]
// CHECK:        te.return %1 : tensor<1x5xi64>
func.func @argmin(%x: tensor<4x5xf32>) -> tensor<1x5xi64> attributes {relay.primitive} {
  %0 = relay.argmin %x {select_last = true, keepdims = true} : (tensor<4x5xf32>) -> tensor<1x5xi64>
  return %0 : tensor<1x5xi64>
}
