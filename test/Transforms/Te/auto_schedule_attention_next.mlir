// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' | FileCheck %s

// Heads that come from beyond the second cache: the steps of one prefetch the keys, values and queries of the next.
// CHECK-LABEL: te.schedule for @far
// CHECK:         %[[H:[0-9]+]]:4 = te.axes
// CHECK:         %[[K:.*]] = te.input 1
// CHECK:         te.prefetch %[[K]], %[[H]]#1 ahead 1 over
// CHECK:         %[[V:.*]] = te.input 2
// CHECK:         te.prefetch %[[V]], %[[H]]#1 ahead 1 over
// CHECK:         %[[Q:.*]] = te.input 0
// CHECK:         te.prefetch %[[Q]], %[[H]]#1 ahead 1 over
func.func @far(%q: tensor<64x4x64x32xf32>, %k: tensor<64x4x64x32xf32>, %v: tensor<64x4x64x32xf32>) -> tensor<64x4x64x32xf32> attributes {relay.primitive} {
  %0 = relay.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<64x4x64x32xf32>, tensor<64x4x64x32xf32>, tensor<64x4x64x32xf32>) -> tensor<64x4x64x32xf32>
  return %0 : tensor<64x4x64x32xf32>
}

// CHECK-LABEL: te.schedule for @near
// CHECK-NOT:     te.prefetch
func.func @near(%q: tensor<4x4x64x32xf32>, %k: tensor<4x4x64x32xf32>, %v: tensor<4x4x64x32xf32>) -> tensor<4x4x64x32xf32> attributes {relay.primitive} {
  %0 = relay.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<4x4x64x32xf32>, tensor<4x4x64x32xf32>, tensor<4x4x64x32xf32>) -> tensor<4x4x64x32xf32>
  return %0 : tensor<4x4x64x32xf32>
}
