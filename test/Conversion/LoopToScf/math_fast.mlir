// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-fp-math{level=fast},func.func(math-approximate))' --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate))' --split-input-file | FileCheck %s --check-prefix=PLAIN

// One quotient for all numbers, where otherwise one of two forms is chosen by size.
// CHECK-LABEL: func.func @tanh
// CHECK-NOT:     math.copysign
// CHECK:         arith.divf
// CHECK-NOT:     math.copysign
// CHECK:         return
// PLAIN-LABEL: func.func @tanh
// PLAIN:         math.copysign
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.tanh %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// f64 has no shorter form, and is a call: nothing changes. Neither has the logarithm, which stays what it is without.
// CHECK-LABEL: func.func @double
// CHECK-NEXT:    math.tanh %{{.*}} : f64
// CHECK-LABEL: func.func @log
// CHECK-NOT:     math.log
// CHECK:         return
func.func @double(%x: f64) -> f64 {
  %0 = math.tanh %x : f64
  return %0 : f64
}
func.func @log(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}
