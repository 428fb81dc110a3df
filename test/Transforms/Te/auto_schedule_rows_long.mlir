// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// A row of 128 kB is kept in the second cache from pass to pass.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[A:.*]]:2 = te.axes %{{.*}} : !te.axis, !te.axis
// CHECK:         te.compute_at %{{.*}}, %[[A]]#0
// CHECK:         te.compute_at %{{.*}}, %[[A]]#0
// CHECK:         te.compute_at %{{.*}}, %[[A]]#0
func.func @main(%x: tensor<16x32768xf32>) -> tensor<16x32768xf32> {
  %0 = call @k(%x) : (tensor<16x32768xf32>) -> tensor<16x32768xf32>
  return %0 : tensor<16x32768xf32>
}
func.func @k(%x: tensor<16x32768xf32>) -> tensor<16x32768xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x : (tensor<16x32768xf32>) -> tensor<16x32768xf32>
  return %0 : tensor<16x32768xf32>
}

// -----

// One of 1 MB is not: exponentials of all rows are stored before they are summed up.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[EXP:.*]] = te.stage "exp_1"
// CHECK-NOT:     te.compute_at %[[EXP]]
func.func @main(%x: tensor<8x262144xf32>) -> tensor<8x262144xf32> {
  %0 = call @k(%x) : (tensor<8x262144xf32>) -> tensor<8x262144xf32>
  return %0 : tensor<8x262144xf32>
}
func.func @k(%x: tensor<8x262144xf32>) -> tensor<8x262144xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x : (tensor<8x262144xf32>) -> tensor<8x262144xf32>
  return %0 : tensor<8x262144xf32>
}
