// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver5},convert-relay-to-te,te-schedule)' | FileCheck %s

// The last cache holds what is read: blocks go along its rows, a tile asks for lines of the next block, and some lines of a row are stored together.
// CHECK-LABEL: te.schedule for @held
// CHECK:         %[[A:.*]]:2 = te.axes
// CHECK-NEXT:    %[[IO:[a-z_0-9]+]], %[[I:[a-z_0-9]+]] = te.split %[[A]]#0 by 64
// CHECK-NEXT:    %[[IT:[a-z_0-9]+]], %[[II:[a-z_0-9]+]] = te.split %[[I]] by 16
// CHECK-NEXT:    %[[JO:[a-z_0-9]+]], %[[J:[a-z_0-9]+]] = te.split %[[A]]#1 by 64
// CHECK-NEXT:    %[[JT:[a-z_0-9]+]], %[[JI:[a-z_0-9]+]] = te.split %[[J]] by 16
// CHECK:         te.reorder %[[JO]], %[[IO]], %[[IT]], %[[JT]], %[[II]], %[[JI]]
// CHECK-NEXT:    %[[X:.*]] = te.input 0
// CHECK-NEXT:    te.prefetch %[[X]], %[[IO]] ahead 1 over %[[JT]]
// CHECK-NEXT:    te.stream
func.func @held(%x: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}

// Rows come from memory: some lines of each are read together.
// CHECK-LABEL: te.schedule for @far
// CHECK:         %[[A:.*]]:2 = te.axes
// CHECK-NEXT:    %[[IO:[a-z_0-9]+]], %[[I:[a-z_0-9]+]] = te.split %[[A]]#0 by 64
// CHECK-NEXT:    %[[IT:[a-z_0-9]+]], %[[II:[a-z_0-9]+]] = te.split %[[I]] by 16
// CHECK-NEXT:    %[[JO:[a-z_0-9]+]], %[[J:[a-z_0-9]+]] = te.split %[[A]]#1 by 64
// CHECK-NEXT:    %[[JT:[a-z_0-9]+]], %[[JI:[a-z_0-9]+]] = te.split %[[J]] by 16
// CHECK:         te.reorder %[[IO]], %[[JO]], %[[JT]], %[[IT]], %[[II]], %[[JI]]
// CHECK-NOT:     te.prefetch
// CHECK:         te.stream
func.func @far(%x: tensor<2000x3000xf32>) -> tensor<3000x2000xf32> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<2000x3000xf32>) -> tensor<3000x2000xf32>
  return %0 : tensor<3000x2000xf32>
}

// In the caches neither is done.
// CHECK-LABEL: te.schedule for @near
// CHECK-NOT:     te.prefetch
// CHECK-NOT:     te.stream
func.func @near(%x: tensor<1500x1500xf32>) -> tensor<1500x1500xf32> attributes {relay.primitive} {
  %0 = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<1500x1500xf32>) -> tensor<1500x1500xf32>
  return %0 : tensor<1500x1500xf32>
}
