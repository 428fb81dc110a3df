// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// Only the first pass over a row reads the inputs: the sum over what it kept prefetches the next row of both, a share in each of its steps.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[SUMS:.*]] = te.stage "sums_
// CHECK:         %[[Y:.*]] = te.stage "layer_norm_
// CHECK:         %[[A:.*]]:2 = te.axes %[[Y]]
// CHECK:         %[[K:.*]]:2 = te.axes %[[SUMS]]
// CHECK:         %[[STEP:.*]], %{{.*}} = te.split %[[K]]#1 by 64
// CHECK:         %[[X:.*]] = te.input 0
// CHECK:         te.prefetch %[[X]], %[[A]]#0 ahead 1 over %[[STEP]]
// CHECK:         %[[R:.*]] = te.input 1
// CHECK:         te.prefetch %[[R]], %[[A]]#0 ahead 1 over %[[STEP]]
func.func @main(%x: tensor<256x1024xf32>, %r: tensor<256x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %0 = call @k(%x, %r, %g, %b) : (tensor<256x1024xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<256x1024xf32>
  return %0 : tensor<256x1024xf32>
}
func.func @k(%x: tensor<256x1024xf32>, %r: tensor<256x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> attributes {relay.primitive} {
  %0 = relay.add %x, %r : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %1 = relay.layer_norm %0, %g, %b {axis = -1 : i64, epsilon = 1.0e-5 : f64} : (tensor<256x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<256x1024xf32>
  return %1 : tensor<256x1024xf32>
}

// -----

// All of it is in the near caches: nothing is prefetched.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.prefetch
func.func @main(%x: tensor<16x1024xf32>, %r: tensor<16x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<16x1024xf32> {
  %0 = call @k(%x, %r, %g, %b) : (tensor<16x1024xf32>, tensor<16x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<16x1024xf32>
  return %0 : tensor<16x1024xf32>
}
func.func @k(%x: tensor<16x1024xf32>, %r: tensor<16x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<16x1024xf32> attributes {relay.primitive} {
  %0 = relay.add %x, %r : (tensor<16x1024xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %1 = relay.layer_norm %0, %g, %b {axis = -1 : i64, epsilon = 1.0e-5 : f64} : (tensor<16x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<16x1024xf32>
  return %1 : tensor<16x1024xf32>
}

// -----

// What the largest is found of is made as many at a time as that takes, by vectors of its own, so that both are one loop.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[MAX:.*]] = te.stage "max_
// CHECK:         %[[T:.*]] = te.stage "add
// CHECK:         %[[A:.*]]:2 = te.axes %[[T]]
// CHECK:         %{{.*}}, %[[W:.*]] = te.split %[[A]]#1 by 128
// CHECK:         %[[U:.*]], %[[V:.*]] = te.split %[[W]] by 16
// CHECK:         te.unroll %[[U]]
// CHECK:         te.vectorize %[[V]]
// CHECK:         %[[B:.*]]:2 = te.axes %[[MAX]]
// CHECK:         te.split %[[B]]#1 by 128
func.func @main(%x: tensor<16x1024xf32>, %m: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %0 = call @k(%x, %m) : (tensor<16x1024xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %0 : tensor<16x1024xf32>
}
func.func @k(%x: tensor<16x1024xf32>, %m: tensor<16x1024xf32>) -> tensor<16x1024xf32> attributes {relay.primitive} {
  %0 = relay.add %x, %m : (tensor<16x1024xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %1 = relay.softmax %0 : (tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %1 : tensor<16x1024xf32>
}
