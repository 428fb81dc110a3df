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
// CHECK:        arith.fptosi %{{.*}} : f64 to i64
// CHECK:        %[[LOW:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK-NEXT:   %[[PLACE:.*]] = arith.minsi %[[LOW]], %c7
// CHECK-NEXT:   %[[X:.*]] = te.load %arg0[%[[PLACE]]]
// CHECK-NEXT:   te.yield %[[X]]
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
// CHECK:        %[[FLOOR:.*]] = math.floor %7
// CHECK-NEXT:   %[[PART:.*]] = arith.subf %7, %[[FLOOR]]
// CHECK-NEXT:   %[[REST:.*]] = arith.subf %cst_2, %[[PART]]
// CHECK:        %[[A:.*]] = arith.truncf %[[REST]] : f64 to f32
// CHECK-NEXT:   %[[B:.*]] = arith.truncf %[[PART]] : f64 to f32
// CHECK-NEXT:   te.load %arg0
// CHECK-NEXT:   %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:   te.load %arg0
// CHECK-NEXT:   %[[Y:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:   %[[AX:.*]] = arith.mulf %[[X]], %[[A]]
// CHECK-NEXT:   %[[BY:.*]] = arith.mulf %[[Y]], %[[B]]
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[AX]], %[[BY]]
// CHECK-NEXT:   %[[ALONE:.*]] = arith.cmpf oeq, %[[B]], %cst
// CHECK-NEXT:   arith.select %[[ALONE]], %[[X]], %[[SUM]]
func.func @linear(%x: tensor<4xf16>) -> tensor<7xf16> attributes {relay.primitive} {
  %0 = relay.resize %x {size = array<i64: 7>, scales = array<f64: 1.75>, method = "linear"} : (tensor<4xf16>) -> tensor<7xf16>
  return %0 : tensor<7xf16>
}
