// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// No loop of independent iterations is around a sum of all: threads share parts of it.
// CHECK-LABEL: te.schedule for @all
// CHECK:         %[[SUM:.*]] = te.stage "reduce_sum"
// CHECK:         %[[K:.*]] = te.axes %[[SUM]]
// CHECK-NEXT:    %[[PARTS:.*]], %{{.*}} = te.split %[[K]] by 16384
// CHECK-NEXT:    %[[PARTIAL:.*]] = te.rfactor %[[PARTS]] as "parts_of_reduce_sum"
// CHECK:         %[[A:.*]]:2 = te.axes %[[PARTIAL]]
// CHECK:         te.vectorize
// CHECK:         te.parallel %[[A]]#0
func.func @all(%x: tensor<65536xf32>) -> tensor<f32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x : (tensor<65536xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The last part of a length that no number divides has fewer.
// CHECK-LABEL: te.schedule for @prime
// CHECK:         te.split %{{.*}} by 21888
// CHECK-NEXT:    te.rfactor
func.func @prime(%x: tensor<65521xf32>) -> tensor<f32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x : (tensor<65521xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Columns are sums of blocks of rows; those of a block lie together.
// CHECK:       #[[APART:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: te.schedule for @columns
// CHECK:         %[[A:.*]]:2 = te.axes
// CHECK-NEXT:    %[[PARTS:.*]], %{{.*}} = te.split %[[A]]#1 by 256
// CHECK-NEXT:    %[[PARTIAL:.*]] = te.rfactor %[[PARTS]]
// CHECK-NEXT:    te.transform_layout %[[PARTIAL]] by #[[APART]]
// CHECK:         %[[P:.*]]:3 = te.axes %[[PARTIAL]]
// CHECK:         te.reorder %[[P]]#1,
// CHECK:         te.parallel %[[P]]#1
func.func @columns(%x: tensor<4096x1024xf32>) -> tensor<1024xf32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<4096x1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// Rows enough are shared as they are.
// CHECK-LABEL: te.schedule for @rows
// CHECK-NOT:     te.rfactor
// CHECK:         te.parallel
func.func @rows(%x: tensor<1024x1024xf32>) -> tensor<1024xf32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// What takes a few microseconds is not shared.
// CHECK-LABEL: te.schedule for @small
// CHECK-NOT:     te.rfactor
func.func @small(%x: tensor<16384xf32>) -> tensor<f32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x : (tensor<16384xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What goes over the elements again keeps its row together.
// CHECK-LABEL: te.schedule for @softmax
// CHECK-NOT:     te.rfactor
func.func @softmax(%x: tensor<1x1048576xf32>) -> tensor<1x1048576xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x {axis = 1 : i64} : (tensor<1x1048576xf32>) -> tensor<1x1048576xf32>
  return %0 : tensor<1x1048576xf32>
}

// -----

// A product with a vector is none of these: its vector is read for each result.
// CHECK-LABEL: te.schedule for @matvec
// CHECK-NOT:     te.rfactor
func.func @matvec(%x: tensor<1x2048xf32>, %w: tensor<2048x64xf32>) -> tensor<1x64xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<1x2048xf32>, tensor<2048x64xf32>) -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}
