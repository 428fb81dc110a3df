// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-fp-math{level=strict},relay-optimize,convert-relay-to-te,te.kernel(canonicalize,cse))' | FileCheck %s

// Each operator is computed in double precision and rounded once; what follows reads the rounded number.
// CHECK-LABEL: te.kernel @fused
// CHECK:         arith.extf %{{.*}} : f32 to f64
// CHECK:         %[[E:.*]] = math.exp %{{.*}} : f64
// CHECK:         arith.truncf %[[E]] : f64 to f32
// CHECK:         arith.mulf {{.*}} : f64
// CHECK:         te.compute {{.*}}reduce_sum
// CHECK:         arith.addf {{.*}} : f64
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = relay.mul %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = relay.reduce_sum %1 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
