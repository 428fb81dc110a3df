// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Tensors from attributes and types.

// Whole numbers are exact and wrap.
// CHECK-LABEL: te.kernel @arange(
// CHECK:        te.compute "arange" axes [5] reduce [] init []
// CHECK:        arith.index_cast %arg0 : index to i64
// CHECK-NEXT:   arith.muli %1, %c2_i64
// CHECK-NEXT:   arith.addi %2, %c-3_i64
// CHECK-NEXT:   arith.trunci %3 : i64 to i8
// CHECK-NEXT:   te.yield %4
// CHECK:        te.return %0 : tensor<5xi8>
func.func @arange() -> tensor<5xi8> attributes {relay.primitive} {
  %0 = relay.arange {size = 5 : i64, start = -3.0 : f64, step = 2.0 : f64, dtype = i8} : () -> tensor<5xi8>
  return %0 : tensor<5xi8>
}

// CHECK-LABEL: te.kernel @arange_of_floats(
// CHECK:        te.compute "arange" axes [5] reduce [] init []
// CHECK:        arith.index_cast %arg0 : index to i64
// CHECK-NEXT:   arith.sitofp %1 : i64 to f64
// CHECK-NEXT:   arith.mulf %2, %cst
// CHECK-NEXT:   arith.addf %3, %cst_0
// CHECK-NEXT:   arith.truncf %4 : f64 to f16
// CHECK-NEXT:   te.yield %5
// CHECK:        te.return %0 : tensor<5xf16>
func.func @arange_of_floats() -> tensor<5xf16> attributes {relay.primitive} {
  %0 = relay.arange {size = 5 : i64, start = 0.5 : f64, step = 0.25 : f64, dtype = f16} : () -> tensor<5xf16>
  return %0 : tensor<5xf16>
}

// CHECK-LABEL: te.kernel @shape_of(
// CHECK:        te.compute "shape_of" axes [3] reduce [] init []
// CHECK:        arith.cmpi eq, %arg1, %c1
// CHECK-NEXT:   arith.select %1, %c7_i64, %c9_i64
// CHECK-NEXT:   arith.cmpi eq, %arg1, %c0
// CHECK-NEXT:   arith.select %3, %c4_i64, %2
// CHECK-NEXT:   te.yield %4
// CHECK:        te.return %0 : tensor<3xi64>
func.func @shape_of(%x: tensor<4x7x9xf32>) -> tensor<3xi64> attributes {relay.primitive} {
  %0 = relay.shape_of %x : (tensor<4x7x9xf32>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
