// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Sampling at another resolution.

// A place is computed in whole numbers where that is the same; an axis that stays needs nothing.
// CHECK-LABEL: te.kernel @nearest(
// CHECK:        te.compute "resize" axes [3, 8] reduce [] init []
// CHECK:        arith.divui %arg2, %c2
// CHECK-NEXT:   te.load %arg0[%arg1, %1]
// CHECK-NEXT:   te.yield %2
// CHECK:        te.return %0 : tensor<3x8xi8>
func.func @nearest(%x: tensor<3x4xi8>) -> tensor<3x8xi8> attributes {relay.primitive} {
  %0 = relay.resize %x {size = array<i64: 3, 8>, scales = array<f64: 1.0, 2.0>, coordinates = "asymmetric", rounding = "floor"} : (tensor<3x4xi8>) -> tensor<3x8xi8>
  return %0 : tensor<3x8xi8>
}

// CHECK-LABEL: te.kernel @fewer(
// CHECK:        te.compute "resize" axes [3] reduce [] init []
// CHECK:        arith.muli %arg1, %c3
// CHECK-NEXT:   arith.addi %1, %c1
// CHECK-NEXT:   te.load %arg0[%2]
// CHECK-NEXT:   te.yield %3
// CHECK:        te.return %0 : tensor<3xi8>
func.func @fewer(%x: tensor<9xi8>) -> tensor<3xi8> attributes {relay.primitive} {
  %0 = relay.resize %x {size = array<i64: 3>, scales = array<f64: 0.33333333333333331>} : (tensor<9xi8>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// Else in f64, with the roundings of the reference.
// CHECK-LABEL: te.kernel @in_floats(
// CHECK:        te.compute "resize" axes [3] reduce [] init []
// CHECK:        arith.sitofp %1 : i64 to f64
// CHECK-NEXT:   arith.divf %2, %cst_3
// CHECK-NEXT:   arith.maximumf %3, %cst_2
// CHECK-NEXT:   arith.minimumf %4, %cst_1
// CHECK-NEXT:   math.ceil %5
// CHECK:        arith.fptosi %12 : f64 to i64
// CHECK:        arith.maxsi %17, %c0
// CHECK-NEXT:   arith.minsi %18, %c7
// CHECK-NEXT:   te.load %arg0[%19]
// CHECK-NEXT:   te.yield %20
// CHECK:        te.return %0 : tensor<3xi8>
func.func @in_floats(%x: tensor<8xi8>) -> tensor<3xi8> attributes {relay.primitive} {
  %0 = relay.resize %x {size = array<i64: 3>, scales = array<f64: 0.1>, coordinates = "asymmetric", rounding = "ceil"} : (tensor<8xi8>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// A neighbour of weight 0 does not count.
// CHECK-LABEL: te.kernel @linear(
// CHECK:        te.compute "resize" axes [7] reduce [] init []
// CHECK:        arith.sitofp %1 : i64 to f64
// CHECK-NEXT:   arith.addf %2, %cst_6
// CHECK-NEXT:   arith.divf %3, %cst_5
// CHECK-NEXT:   arith.subf %4, %cst_6
// CHECK:        math.floor %7
// CHECK-NEXT:   arith.subf %7, %8
// CHECK-NEXT:   arith.subf %cst_2, %9
// CHECK:        arith.truncf %10 : f64 to f32
// CHECK-NEXT:   arith.truncf %9 : f64 to f32
// CHECK-NEXT:   te.load %arg0[%23]
// CHECK-NEXT:   arith.extf %29 : f16 to f32
// CHECK-NEXT:   te.load %arg0[%26]
// CHECK-NEXT:   arith.extf %31 : f16 to f32
// CHECK-NEXT:   arith.mulf %30, %27
// CHECK-NEXT:   arith.mulf %32, %28
// CHECK-NEXT:   arith.addf %33, %34
// CHECK-NEXT:   arith.cmpf oeq, %28, %cst
// CHECK-NEXT:   arith.select %36, %30, %35
// CHECK-NEXT:   arith.truncf %37 : f32 to f16
func.func @linear(%x: tensor<4xf16>) -> tensor<7xf16> attributes {relay.primitive} {
  %0 = relay.resize %x {size = array<i64: 7>, scales = array<f64: 1.75>, method = "linear"} : (tensor<4xf16>) -> tensor<7xf16>
  return %0 : tensor<7xf16>
}
