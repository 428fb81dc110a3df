// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate))' --split-input-file | FileCheck %s

// Functions of f32 are straight code, in as many lanes as they had.
// CHECK-LABEL: func.func @exp
// CHECK-NOT:     math.exp
// CHECK:         math.fma {{.*}} : vector<16xf32>
// CHECK:         arith.bitcast {{.*}} : vector<16xi32> to vector<16xf32>
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// f16 is computed in f32, f64 stays a call; but for log1p, of which MLIR makes log(1 + x), which loses a small x.
// CHECK-LABEL: func.func @types
// CHECK-SAME:    %[[A:.*]]: f16, %[[B:.*]]: f64
// CHECK:         arith.extf %[[A]] : f16 to f32
// CHECK:         arith.truncf {{.*}} : f32 to f16
// CHECK:         math.tanh %[[B]] : f64
// CHECK-NOT:     math.log1p
// CHECK:         return
func.func @types(%a: f16, %b: f64) -> (f16, f64, f64) {
  %0 = math.tanh %a : f16
  %1 = math.tanh %b : f64
  %2 = math.log1p %b : f64
  return %0, %1, %2 : f16, f64, f64
}

// -----

// Where a lane is too large to be reduced in three parts, all are reduced by bits of 1 / 2 pi.
// CHECK-LABEL: func.func @sin
// CHECK:         %[[ANY:.*]] = vector.reduction <or>
// CHECK:         %[[RARELY:.*]] = llvm.intr.expect %[[ANY]], %false : i1
// CHECK:         %{{.*}}:2 = scf.if %[[RARELY]]
// CHECK:           arith.muli {{.*}} : vector<8xi64>
// CHECK:           arith.truncf {{.*}} : vector<8xf64> to vector<8xf32>
// CHECK:         } else {
// CHECK-NEXT:      scf.yield
// CHECK-NOT:     math.sin
// CHECK:         return
func.func @sin(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// Powers that are known are products, quotients and roots.
// CHECK-LABEL: func.func @powers
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
// CHECK:         %[[S:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:         math.sqrt
// CHECK:         %[[C:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:         arith.mulf %[[C]], %[[X]]
// CHECK:         arith.divf %{{.*}}, %[[X]]
// CHECK-NOT:     math.powf
func.func @powers(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %two = arith.constant dense<2.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %three = arith.constant dense<3.0> : vector<16xf32>
  %minus = arith.constant dense<-1.0> : vector<16xf32>
  %0 = math.powf %x, %two : vector<16xf32>
  %1 = math.powf %x, %half : vector<16xf32>
  %2 = math.powf %x, %three : vector<16xf32>
  %3 = math.powf %x, %minus : vector<16xf32>
  return %0, %1, %2, %3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// -----

// Sine and cosine of one angle are reduced together, and share both polynomials.
// CHECK-LABEL: func.func @both
// CHECK-COUNT-1: scf.if
// CHECK-NOT:     scf.if
// CHECK:         %[[SINE:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:         %[[COSINE:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK-NOT:     math.{{sin|cos}}
// CHECK:         return
func.func @both(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %0 = math.cos %x : vector<16xf32>
  %1 = math.sin %x : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}

// -----

// Of two angles they are not, nor where one is computed in another block.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: scf.if {{.*}} -> (vector<16xi32>, vector<16xf32>)
func.func @apart(%x: vector<16xf32>, %y: vector<16xf32>, %c: i1) -> (vector<16xf32>, vector<16xf32>) {
  %0 = math.cos %x : vector<16xf32>
  %1 = math.sin %y : vector<16xf32>
  %2 = scf.if %c -> vector<16xf32> {
    %3 = math.sin %x : vector<16xf32>
    scf.yield %3 : vector<16xf32>
  } else {
    scf.yield %1 : vector<16xf32>
  }
  return %0, %2 : vector<16xf32>, vector<16xf32>
}
