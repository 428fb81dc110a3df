// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Threads that share a row combine 4 of its elements at a time.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK:         %[[O:.*]], %[[L:.*]] = te.split %{{.*}} by 4
// CHECK-NEXT:    te.vectorize %[[L]]
// CHECK-NEXT:    %{{.*}}, %[[T:.*]] = te.split %[[O]] by 256 tail guard
// CHECK-NEXT:    te.bind %[[T]] to thread_x
func.func @main(%x: tensor<512x1024xf32>) -> tensor<512xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// -----

// Of f16 it is 8.
// CHECK-LABEL: te.schedule for @fused_reduce_max_0
// CHECK:         te.split %{{.*}} by 8
// CHECK-NEXT:    te.vectorize
func.func @main(%x: tensor<512x1024xf16>) -> tensor<512xf16> {
  %0 = relay.reduce_max %x {axes = array<i64: 1>} : (tensor<512x1024xf16>) -> tensor<512xf16>
  return %0 : tensor<512xf16>
}

// -----

// Every other row begins in the middle of 4.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK:         te.split %{{.*}} by 2
// CHECK-NEXT:    te.vectorize
func.func @main(%x: tensor<512x1002xf32>) -> tensor<512xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<512x1002xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// -----

// Rows of an odd length are read one by one.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK-NOT:     te.vectorize
// CHECK:         te.bind %{{.*}} to thread_x
func.func @main(%x: tensor<512x1001xf32>) -> tensor<512xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<512x1001xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}
