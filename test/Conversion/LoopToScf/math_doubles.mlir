// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate{doubles=true}))' --split-input-file | FileCheck %s

// With doubles, functions of f64 are straight code as well; those of f32 are what they were.
// CHECK-LABEL: func.func @both
// CHECK-NOT:     math.exp
// CHECK:         math.fma {{.*}} : vector<2xf64>
// CHECK:         arith.bitcast {{.*}} : vector<2xi64> to vector<2xf64>
// CHECK:         math.fma {{.*}} : f32
// CHECK-NOT:     math.tanh
// CHECK:         return
func.func @both(%x: vector<2xf64>, %y: f32) -> (vector<2xf64>, f32) {
  %0 = math.exp %x : vector<2xf64>
  %1 = math.tanh %y : f32
  return %0, %1 : vector<2xf64>, f32
}

// -----

// Large angles are multiplied by 192 bits of 1 / 2 pi.
// CHECK-LABEL: func.func @sin
// CHECK:         scf.if
// CHECK-COUNT-2:   arith.mului_extended {{.*}} : i64
// CHECK:         } else {
// CHECK-NOT:     math.sin
// CHECK:         return
func.func @sin(%x: f64) -> f64 {
  %0 = math.sin %x : f64
  return %0 : f64
}

// -----

// What is no function stays.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    return
func.func @plain(%x: f64) -> f64 {
  %0 = arith.addf %x, %x : f64
  return %0 : f64
}
