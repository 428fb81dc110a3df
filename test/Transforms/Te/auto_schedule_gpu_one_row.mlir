// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// A softmax of one row: all in one block, whose threads share the reductions and keep the row in shared memory.
// CHECK-LABEL: te.schedule for @fused_softmax_0
// CHECK:         %[[ONE:.*]], %[[ROW:.*]] = te.split %{{.*}} by 1000
// CHECK-NEXT:    te.bind %[[ONE]] to block_x
// CHECK-COUNT-3: te.compute_at %{{.*}}, %[[ONE]]
// CHECK:         te.set_scope %{{.*}} to shared
// CHECK:         te.bind %{{.*}} to thread_x
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = relay.softmax %x : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// A long row is work for several blocks.
// CHECK-LABEL: te.schedule for @fused_softmax_0
// CHECK-NOT:     te.split %{{.*}} by 100000
// CHECK:         te.bind %{{.*}} to thread_x
func.func @main(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %0 = relay.softmax %x : (tensor<100000xf32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

// -----

// A mean of all elements: the sum is shared by the threads of a block, what follows is one number.
// CHECK-LABEL: te.schedule for @fused_mul_reduce_mean_0
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK-NOT:     te.compute_at
func.func @main(%x: tensor<10x77xf32>) -> tensor<f32> {
  %1 = relay.mul %x, %x : (tensor<10x77xf32>, tensor<10x77xf32>) -> tensor<10x77xf32>
  %0 = relay.reduce_mean %1 {axes = array<i64: 0, 1>} : (tensor<10x77xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
