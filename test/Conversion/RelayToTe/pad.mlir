// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Padding: elements are removed first, then added.

// The filler is rounded as the element type rounds it; an axis that loses elements needs no condition.
// CHECK-LABEL: te.kernel @constant(
// CHECK:        te.compute "pad" axes [7, 3] reduce [] init []
// CHECK:        arith.addi %arg1, %c-1
// CHECK-NEXT:   arith.cmpi sge, %1, %c0
// CHECK-NEXT:   arith.cmpi sle, %1, %c3
// CHECK-NEXT:   arith.addi %arg2, %c1
// CHECK-NEXT:   arith.andi %2, %3
// CHECK-NEXT:   te.load_if %5, %arg0[%1, %4] else %cst
// CHECK-NEXT:   te.yield %6
// CHECK:        te.return %0 : tensor<7x3xf16>
func.func @constant(%x: tensor<4x5xf16>) -> tensor<7x3xf16> attributes {relay.primitive} {
  %0 = relay.pad %x {padding = array<i64: 1, -1, 2, -1>, value = 0.1 : f64} : (tensor<4x5xf16>) -> tensor<7x3xf16>
  return %0 : tensor<7x3xf16>
}

// CHECK-LABEL: te.kernel @edge(
// CHECK:        te.compute "pad" axes [7] reduce [] init []
// CHECK:        arith.addi %arg1, %c-2
// CHECK-NEXT:   arith.maxsi %1, %c0
// CHECK-NEXT:   arith.minsi %2, %c3
// CHECK-NEXT:   te.load %arg0[%3]
// CHECK-NEXT:   te.yield %4
// CHECK:        te.return %0 : tensor<7xf32>
func.func @edge(%x: tensor<4xf32>) -> tensor<7xf32> attributes {relay.primitive} {
  %0 = relay.pad %x {padding = array<i64: 2, 1>, mode = "edge"} : (tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: te.kernel @reflect(
// CHECK:        te.compute "pad" axes [7] reduce [] init []
// CHECK:        arith.addi %arg1, %c-2
// CHECK-NEXT:   arith.cmpi slt, %1, %c0
// CHECK-NEXT:   arith.muli %1, %c-1
// CHECK-NEXT:   arith.select %2, %3, %1
// CHECK-NEXT:   arith.cmpi sgt, %1, %c3
// CHECK-NEXT:   arith.subi %c8, %arg1
// CHECK-NEXT:   arith.select %5, %6, %4
// CHECK-NEXT:   te.load %arg0[%7]
// CHECK-NEXT:   te.yield %8
// CHECK:        te.return %0 : tensor<7xf32>
func.func @reflect(%x: tensor<4xf32>) -> tensor<7xf32> attributes {relay.primitive} {
  %0 = relay.pad %x {padding = array<i64: 2, 1>, mode = "reflect"} : (tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Whole turns keep the dividend from being negative.
// CHECK-LABEL: te.kernel @wrap(
// CHECK:        te.compute "pad" axes [10] reduce [] init []
// CHECK:        arith.addi %arg1, %c3
// CHECK-NEXT:   arith.remui %1, %c4
// CHECK-NEXT:   te.load %arg0[%2]
// CHECK-NEXT:   te.yield %3
// CHECK:        te.return %0 : tensor<10xf32>
func.func @wrap(%x: tensor<4xf32>) -> tensor<10xf32> attributes {relay.primitive} {
  %0 = relay.pad %x {padding = array<i64: 5, 1>, mode = "wrap"} : (tensor<4xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// Nothing is loaded from an operand without elements.
// CHECK-LABEL: te.kernel @of_nothing(
// CHECK:        te.compute "pad" axes [2] reduce [] init []
// CHECK:        te.yield %c2_i32
// CHECK:        te.return %0 : tensor<2xi32>
func.func @of_nothing(%x: tensor<0xi32>) -> tensor<2xi32> attributes {relay.primitive} {
  %0 = relay.pad %x {padding = array<i64: 1, 1>, value = 2.0 : f64} : (tensor<0xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
