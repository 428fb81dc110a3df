// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' | FileCheck %s

// Right sides of 256 kB each, 16.8 MB together, are read where they lie: each product prefetches the next one's.
// CHECK-LABEL: te.schedule for @far
// CHECK:         %[[S:.*]] = te.stage "matmul"
// CHECK:         %[[A:.*]]:4 = te.axes %[[S]] :
// CHECK:         %[[X:.*]] = te.input 1
// CHECK:         te.prefetch %[[X]], %[[A]]#0 ahead 1 over %[[A]]#3
func.func @far(%x: tensor<1x64x512xf32>, %y: tensor<64x512x128xf32>) -> tensor<64x64x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %y : (tensor<1x64x512xf32>, tensor<64x512x128xf32>) -> tensor<64x64x128xf32>
  return %0 : tensor<64x64x128xf32>
}

// The second cache holds all of them.
// CHECK-LABEL: te.schedule for @near
// CHECK-NOT:     te.input 1
// CHECK:       }
func.func @near(%x: tensor<1x64x512xf32>, %y: tensor<3x512x128xf32>) -> tensor<3x64x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %y : (tensor<1x64x512xf32>, tensor<3x512x128xf32>) -> tensor<3x64x128xf32>
  return %0 : tensor<3x64x128xf32>
}
