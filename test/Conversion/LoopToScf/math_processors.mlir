// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate{extremes=true power-scaling=true}))' --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate))' --split-input-file | FileCheck %s --check-prefix=PLAIN

// A whole register is multiplied by powers of two in one instruction; other vectors by what two integers stand for.
// CHECK-LABEL: func.func @exp
// CHECK:         x86vector.avx512.mask.scalef {{.*}} : vector<16xf32>
// CHECK:         arith.shli {{.*}} : vector<8xi32>
// CHECK:         return
// PLAIN-LABEL: func.func @exp
// PLAIN-NOT:     x86vector
// PLAIN:         return
func.func @exp(%x: vector<16xf32>, %y: vector<8xf32>) -> (vector<16xf32>, vector<8xf32>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.exp %y : vector<8xf32>
  return %0, %1 : vector<16xf32>, vector<8xf32>
}

// -----

// The larger one; a first operand that is no number stays, and a second one does as no number is below it.
// CHECK-LABEL: func.func @maximum
// CHECK-SAME:    %[[A:.*]]: vector<16xf32>, %[[B:.*]]: vector<16xf32>
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK:         %[[LARGER:.*]] = arith.select %[[ABOVE]], %[[A]], %[[B]]
// CHECK:         %[[NUMBER:.*]] = arith.cmpf ord, %[[A]], %[[A]]
// CHECK:         arith.select %[[NUMBER]], %[[LARGER]], %[[A]]
// PLAIN-LABEL: func.func @maximum
// PLAIN:         arith.maximumf
func.func @maximum(%a: vector<16xf32>, %b: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.maximumf %a, %b : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Numbers of 64 bits as well.
// CHECK-LABEL: func.func @minimum
// CHECK:         arith.cmpf olt
// CHECK-NOT:     arith.minimumf
// CHECK:         return
func.func @minimum(%a: f64, %b: f64) -> f64 {
  %0 = arith.minimumf %a, %b : f64
  return %0 : f64
}
