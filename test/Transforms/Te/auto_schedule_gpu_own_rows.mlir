// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_80' --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// A softmax along a few channels is one launch: a thread has all channels of a place, neighbouring threads neighbouring places.
// CHECK-LABEL: te.schedule for
// CHECK:         te.compute_inline
// CHECK:         te.reorder
// CHECK:         te.bind %{{.*}} to block_x
// CHECK-NEXT:    te.bind %[[T:.*]] to thread_x
// CHECK:         te.compute_at %{{.*}}, %[[T]]
// CHECK:         te.compute_at %{{.*}}, %[[T]]
// CHECK-NOT:     te.bind
func.func @main(%x: tensor<1x5x128x128xf32>) -> tensor<1x5x128x128xf32> {
  %0 = relay.softmax %x {axis = 1 : i64} : (tensor<1x5x128x128xf32>) -> tensor<1x5x128x128xf32>
  return %0 : tensor<1x5x128x128xf32>
}

// -----

// So it is of rows that are too short to be shared.
// CHECK-LABEL: te.schedule for
// CHECK:         te.bind %{{.*}} to block_x
// CHECK-NEXT:    te.bind %[[T:.*]] to thread_x
// CHECK:         te.compute_at %{{.*}}, %[[T]]
// CHECK:         te.compute_at %{{.*}}, %[[T]]
// CHECK-NOT:     te.bind
func.func @main(%x: tensor<300x3xf32>) -> tensor<300x3xf32> {
  %0 = relay.softmax %x : (tensor<300x3xf32>) -> tensor<300x3xf32>
  return %0 : tensor<300x3xf32>
}

// -----

// Long rows side by side are columns, which threads share.
// CHECK-LABEL: te.schedule for
// CHECK:         te.bind %{{.*}} to block_x
// CHECK-NEXT:    te.bind %[[T:.*]] to thread_x
// CHECK-NEXT:    te.bind %{{.*}} to thread_y
// CHECK:         te.compute_at %{{.*}}, %[[T]]
func.func @main(%x: tensor<1000x3xf32>) -> tensor<1000x3xf32> {
  %0 = relay.softmax %x {axis = 0 : i64} : (tensor<1000x3xf32>) -> tensor<1000x3xf32>
  return %0 : tensor<1000x3xf32>
}
