// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_90a --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Sums of columns: a thread has 4 of them, those along y share each.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK-NOT:     te.rfactor
// CHECK:         %[[S:.*]] = te.cache_write %{{.*}} as "columns_of_reduce_sum"
// CHECK:         te.split %{{.*}} by 4
// CHECK-NEXT:    te.vectorize
// CHECK:         te.bind %{{.*}} to block_x
// CHECK-NEXT:    te.bind %[[T:.*]] to thread_x
// CHECK-NEXT:    te.compute_at %[[S]], %[[T]]
// CHECK:         te.bind %{{.*}} to thread_y
func.func @main(%x: tensor<512x2048xf32>) -> tensor<2048xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<512x2048xf32>) -> tensor<2048xf32>
  return %0 : tensor<2048xf32>
}

// -----

// A few long ones: parts of them are blocks of their own, and a second launch adds them up.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK:         %[[P:.*]] = te.rfactor %{{.*}} as "parts_of_reduce_sum"
// CHECK:         te.cache_write %[[P]] as "columns_of_parts_of_reduce_sum"
// CHECK:         te.bind %{{.*}} to thread_y
// CHECK:         te.transform_layout %[[P]]
// CHECK:         as "columns_of_reduce_sum"
func.func @main(%x: tensor<65536x128xf32>) -> tensor<128xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<65536x128xf32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}

// -----

// A vector by a matrix is the same; what goes on with the results is computed where they are.
// CHECK-LABEL: te.schedule for @fused_matmul_relu_0
// CHECK:         te.bind %[[T:.*]] to thread_x
// CHECK-NEXT:    %[[S:.*]] = te.stage "matmul"
// CHECK-NEXT:    te.compute_at %[[S]], %[[T]]
// CHECK:         te.bind %{{.*}} to thread_y
func.func @main(%x: tensor<1x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<1x4096xf32> {
  %0 = relay.matmul %x, %w : (tensor<1x1024xf32>, tensor<1024x4096xf32>) -> tensor<1x4096xf32>
  %1 = relay.relu %0 : (tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %1 : tensor<1x4096xf32>
}

// -----

// A softmax of columns is one launch: both reductions are computed where the results are.
// CHECK-LABEL: te.schedule for @fused_softmax_0
// CHECK:         te.bind %[[T:.*]] to thread_x
// CHECK:         te.bind %{{.*}} to thread_y
// CHECK-COUNT-2: te.compute_at %{{.*}}, %[[T]]
// CHECK-COUNT-2: te.bind %{{.*}} to thread_y
// CHECK-NOT:     block_x
func.func @main(%x: tensor<512x2048xf32>) -> tensor<512x2048xf32> {
  %0 = relay.softmax %x {axis = 0 : i64} : (tensor<512x2048xf32>) -> tensor<512x2048xf32>
  return %0 : tensor<512x2048xf32>
}

// -----

// Columns that do not begin at multiples of 16 bytes in every row are read one by one.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK-NOT:     te.vectorize
// CHECK:         te.bind %{{.*}} to thread_y
func.func @main(%x: tensor<512x2047xf32>) -> tensor<2047xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<512x2047xf32>) -> tensor<2047xf32>
  return %0 : tensor<2047xf32>
}

// -----

// A few elements are combined by one thread.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK-NOT:     thread_y
func.func @main(%x: tensor<4x2048xf32>) -> tensor<2048xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<4x2048xf32>) -> tensor<2048xf32>
  return %0 : tensor<2048xf32>
}

// -----

// Of a few vectors by a matrix each thread has the results of all.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         te.cache_write %{{.*}} as "columns_of_matmul"
// CHECK:         te.vectorize
// CHECK-NEXT:    te.unroll
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK:         te.bind %{{.*}} to thread_y
// CHECK-NEXT:    te.unroll
func.func @main(%x: tensor<4x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<4x4096xf32> {
  %0 = relay.matmul %x, %w : (tensor<4x1024xf32>, tensor<1024x4096xf32>) -> tensor<4x4096xf32>
  return %0 : tensor<4x4096xf32>
}
