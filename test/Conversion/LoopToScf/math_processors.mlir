// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate{extremes=true avx512=true}))' --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(math-approximate))' --split-input-file | FileCheck %s --check-prefix=PLAIN

// A whole register looks up in a table and is multiplied by powers of two in one instruction each; other vectors are multiplied by what two integers stand for.
// CHECK-LABEL: func.func @exp
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"({{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK:         x86vector.avx512.mask.scalef {{.*}} : vector<16xf32>
// CHECK:         arith.shli {{.*}} : vector<8xi32>
// CHECK:         return
// PLAIN-LABEL: func.func @exp
// PLAIN-NOT:     x86
// PLAIN:         return
func.func @exp(%x: vector<16xf32>, %y: vector<8xf32>) -> (vector<16xf32>, vector<8xf32>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.exp %y : vector<8xf32>
  return %0, %1 : vector<16xf32>, vector<8xf32>
}

// -----

// Two tables and no polynomial of x: e^y - 1 is what both 16ths of powers and a small rest give.
// CHECK-LABEL: func.func @tanh
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK-NOT:     scalef
// CHECK-COUNT-1: arith.divf
// CHECK-NEXT:    math.copysign
// CHECK-NEXT:    return
// PLAIN-LABEL: func.func @tanh
// PLAIN-NOT:     x86
// PLAIN:         return
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.tanh %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Vectors of several registers look up and are multiplied register by register; all else goes side by side.
// CHECK-LABEL: func.func @registers
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"({{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK:         math.fma {{.*}} : vector<32xf32>
// CHECK-COUNT-2: x86vector.avx512.mask.scalef {{.*}} : vector<16xf32>
// CHECK:         return
// PLAIN-LABEL: func.func @registers
func.func @registers(%x: vector<32xf32>) -> vector<32xf32> {
  %0 = math.exp %x : vector<32xf32>
  return %0 : vector<32xf32>
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

// A constant goes first: what the comparison does not hold for, because it is no number, is the second operand and stays.
// CHECK-LABEL: func.func @constant
// CHECK-SAME:    %[[A:.*]]: vector<16xf32>
// CHECK:         %[[SIX:.*]] = arith.constant dense<6.0
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[SIX]], %[[A]]
// CHECK:         %[[LARGER:.*]] = arith.select %[[ABOVE]], %[[SIX]], %[[A]]
// CHECK-NEXT:    %[[BELOW:.*]] = arith.cmpf olt, %[[SIX]], %[[LARGER]]
// CHECK-NEXT:    arith.select %[[BELOW]], %[[SIX]], %[[LARGER]]
// CHECK-NEXT:    return
func.func @constant(%a: vector<16xf32>) -> vector<16xf32> {
  %six = arith.constant dense<6.0> : vector<16xf32>
  %0 = arith.maximumf %a, %six : vector<16xf32>
  %1 = arith.minimumf %six, %0 : vector<16xf32>
  return %1 : vector<16xf32>
}

// -----

// One that is no number may not.
// CHECK-LABEL: func.func @nan
// CHECK:         arith.cmpf ogt
// CHECK:         arith.cmpf ord
func.func @nan(%a: f32) -> f32 {
  %nan = arith.constant 0x7FC00000 : f32
  %0 = arith.maximumf %a, %nan : f32
  return %0 : f32
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

// -----

// Of two of which either may be none, the one that is a number.
// CHECK-LABEL: func.func @max_number
// CHECK-SAME:    %[[A:.*]]: vector<16xf32>, %[[B:.*]]: vector<16xf32>
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK:         %[[LARGER:.*]] = arith.select %[[ABOVE]], %[[A]], %[[B]]
// CHECK:         %[[NUMBER:.*]] = arith.cmpf ord, %[[B]], %[[B]]
// CHECK:         arith.select %[[NUMBER]], %[[LARGER]], %[[A]]
func.func @max_number(%a: vector<16xf32>, %b: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.maxnumf %a, %b : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// What a reduction has found so far is a number: one comparison, which holds for none that is not.
// CHECK-LABEL: func.func @first_is_number
// CHECK-SAME:    %[[SO_FAR:.*]]: vector<16xf32>, %[[B:.*]]: vector<16xf32>
// CHECK-NEXT:    %[[ABOVE:.*]] = arith.cmpf ogt, %[[B]], %[[SO_FAR]]
// CHECK-NEXT:    %[[LARGER:.*]] = arith.select %[[ABOVE]], %[[B]], %[[SO_FAR]]
// CHECK-NEXT:    return %[[LARGER]]
func.func @first_is_number(%so_far: vector<16xf32>, %b: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.maxnumf %so_far, %b {loop.first_is_number} : vector<16xf32>
  return %0 : vector<16xf32>
}
