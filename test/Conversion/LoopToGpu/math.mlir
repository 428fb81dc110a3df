// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(gpu-math))' --verify-diagnostics --split-input-file | FileCheck %s

// CHECK-LABEL: @intrinsics
// CHECK:         llvm.call_intrinsic "llvm.floor"
// CHECK:         arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK:         llvm.call_intrinsic "llvm.sqrt"
// CHECK:         arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
// CHECK:         %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt"
// CHECK:         arith.divf %{{.*}}, %[[ROOT]] : f64
// CHECK-NOT:     math.
func.func @intrinsics(%a: f32, %b: vector<4xf16>, %c: f64) -> (f32, vector<4xf16>, f64) {
  %0 = math.floor %a : f32
  %1 = math.sqrt %b : vector<4xf16>
  %2 = math.rsqrt %c : f64
  return %0, %1, %2 : f32, vector<4xf16>, f64
}

// -----

// Each step takes 28 bits of the quotient.
// CHECK-LABEL: @remainder
// CHECK:         arith.extf %{{.*}} : f32 to f64
// CHECK:         scf.for
// CHECK:           arith.divf
// CHECK:           llvm.call_intrinsic "llvm.trunc
// CHECK:           llvm.call_intrinsic "llvm.fma
// CHECK:         llvm.call_intrinsic "llvm.copysign
// CHECK-NOT:     arith.remf
func.func @remainder(%a: f32, %b: f32) -> f32 {
  %0 = arith.remf %a, %b : f32
  return %0 : f32
}

// -----

// Of f64, the integers behind the numbers are divided, eleven bits of the quotient at a time.
// CHECK-LABEL: @exact_remainder
// CHECK:         arith.remui
// CHECK:         scf.for
// CHECK:           arith.shli
// CHECK:           arith.remui
// CHECK:         llvm.call_intrinsic "llvm.copysign
// CHECK-NOT:     arith.remf
func.func @exact_remainder(%a: f64, %b: f64) -> f64 {
  %0 = arith.remf %a, %b : f64
  return %0 : f64
}

// -----

// CHECK-LABEL: @power
// CHECK:         scf.for
// CHECK:           arith.shrui
// CHECK-NOT:     math.ipowi
func.func @power(%a: i32, %b: i32) -> i32 {
  %0 = math.ipowi %a, %b : i32
  return %0 : i32
}

// -----

// Nothing to do.
// CHECK-LABEL: @plain
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    return
func.func @plain(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}

// -----

func.func @missing(%a: f64) -> f64 {
  // expected-error @+1 {{'math.exp' op is a function of f64, for which GPUs have no instructions; `math-approximate{doubles=true}` before this pass makes code of it}}
  %0 = math.exp %a : f64
  return %0 : f64
}

// -----

// Every GPU has an instruction for the one of two that is a number, and the greater of two numbers.
// CHECK-LABEL: @greatest
// CHECK:         llvm.call_intrinsic "llvm.maxnum"
// CHECK-NOT:     arith.maxnumf
func.func @greatest(%a: vector<4xf32>, %b: vector<4xf32>) -> vector<4xf32> {
  %0 = arith.maxnumf %a, %b : vector<4xf32>
  return %0 : vector<4xf32>
}
