// RUN: fusion-opt %s --loop-signs --split-input-file | FileCheck %s

// A number or its negative, chosen by the sign of an integer, has that sign.
// CHECK-LABEL: func.func @below(
// CHECK:         %[[TEN:.*]] = arith.constant 1.000000e+01 : f32
// CHECK:         %[[SIGN:.*]] = arith.bitcast %arg0 : i32 to f32
// CHECK:         %[[F:.*]] = math.copysign %[[TEN]], %[[SIGN]] : f32
// CHECK:         return %[[F]]
func.func @below(%i: i32) -> f32 {
  %zero = arith.constant 0 : i32
  %minus = arith.constant -10.0 : f32
  %ten = arith.constant 10.0 : f32
  %c = arith.cmpi slt, %i, %zero : i32
  %f = arith.select %c, %minus, %ten : f32
  return %f : f32
}

// -----

// The other way round it has the other sign. Vectors are as numbers.
// CHECK-LABEL: func.func @above(
// CHECK:         %[[SIGN:.*]] = arith.bitcast %arg0 : vector<4xi64> to vector<4xf64>
// CHECK:         %[[COPIED:.*]] = math.copysign %{{.*}}, %[[SIGN]] : vector<4xf64>
// CHECK:         %[[F:.*]] = arith.negf %[[COPIED]] : vector<4xf64>
// CHECK:         return %[[F]]
func.func @above(%i: vector<4xi64>) -> vector<4xf64> {
  %least = arith.constant dense<-1> : vector<4xi64>
  %minus = arith.constant dense<-0.5> : vector<4xf64>
  %half = arith.constant dense<0.5> : vector<4xf64>
  %c = arith.cmpi sgt, %i, %least : vector<4xi64>
  %f = arith.select %c, %minus, %half : vector<4xi1>, vector<4xf64>
  return %f : vector<4xf64>
}

// -----

// Other numbers, other comparisons, and integers of another size have no such sign.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-4: arith.select
func.func @others(%i: i32, %j: i64) -> (f32, f32, f32, f32) {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  %nothing = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  %minus = arith.constant -10.0 : f32
  %nine = arith.constant 9.0 : f32
  %ten = arith.constant 10.0 : f32
  %c = arith.cmpi slt, %i, %zero : i32
  %d = arith.cmpi slt, %i, %one : i32
  %e = arith.cmpi slt, %j, %none : i64
  %p = arith.select %c, %minus, %nine : f32
  %q = arith.select %d, %minus, %ten : f32
  %r = arith.select %e, %minus, %ten : f32
  %s = arith.select %c, %nothing, %negative : f32
  return %p, %q, %r, %s : f32, f32, f32, f32
}

// -----

// One integer that chooses between vectors has no lanes to take signs from.
// CHECK-LABEL: func.func @one(
// CHECK:         arith.select
func.func @one(%i: i32) -> vector<4xf32> {
  %zero = arith.constant 0 : i32
  %minus = arith.constant dense<-10.0> : vector<4xf32>
  %ten = arith.constant dense<10.0> : vector<4xf32>
  %c = arith.cmpi slt, %i, %zero : i32
  %f = arith.select %c, %minus, %ten : vector<4xf32>
  return %f : vector<4xf32>
}
