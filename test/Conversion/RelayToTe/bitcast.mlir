// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' | FileCheck %s

// CHECK-LABEL: te.kernel @floats
// CHECK: arith.bitcast %{{.*}} : f32 to i32
func.func @floats(%x: tensor<4xf32>) -> tensor<4xi32> attributes {relay.primitive} {
  %0 = relay.bitcast %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
