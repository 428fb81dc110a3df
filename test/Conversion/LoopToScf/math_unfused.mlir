// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate{unfused=true}))' | FileCheck %s

// Products of floats are exact as doubles: no operation is left that would be a call where there is no instruction for it.
// CHECK-LABEL: func.func @exp
// CHECK-NOT:     math.fma
// CHECK:         arith.extf {{.*}} : vector<4xf32> to vector<4xf64>
// CHECK:         arith.mulf {{.*}} : vector<4xf64>
// CHECK:         arith.addf {{.*}} : vector<4xf64>
// CHECK:         arith.truncf {{.*}} : vector<4xf64> to vector<4xf32>
// CHECK-NOT:     math.fma
// CHECK:         return
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// Doubles are left to the C library, as ever.
// CHECK-LABEL: func.func @doubles
// CHECK:         math.exp
func.func @doubles(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.exp %x : vector<2xf64>
  return %0 : vector<2xf64>
}
