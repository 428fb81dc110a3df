// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(bf16-of-integers))' | FileCheck %s

// CHECK-LABEL: func.func @one(
// CHECK:         %[[X:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK:         %[[Y:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK:         return %[[Y]] : bf16
func.func @one(%i: i32) -> bf16 {
  %0 = arith.sitofp %i : i32 to bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @vector(
// CHECK:         %[[X:.*]] = arith.uitofp %{{.*}} : vector<4xi8> to vector<4xf32>
// CHECK:         arith.truncf %[[X]] : vector<4xf32> to vector<4xbf16>
func.func @vector(%i: vector<4xi8>) -> vector<4xbf16> {
  %0 = arith.uitofp %i : vector<4xi8> to vector<4xbf16>
  return %0 : vector<4xbf16>
}

// Others stay.
// CHECK-LABEL: func.func @f16(
// CHECK:         arith.sitofp %{{.*}} : i32 to f16
func.func @f16(%i: i32) -> f16 {
  %0 = arith.sitofp %i : i32 to f16
  return %0 : f16
}
