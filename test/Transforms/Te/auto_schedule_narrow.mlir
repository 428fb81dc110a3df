// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' | FileCheck %s

// Of 16 lanes 4 columns are few: lanes go along the reduction, and the weight is transposed for that.
// CHECK:       #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: te.schedule for @four
// CHECK:         te.transform_layout %{{.*}} by #[[T]]
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK:         te.unroll %[[A]]#1
// CHECK:         %[[O:[a-z_0-9]+]], %[[I:[a-z_0-9]+]] = te.split %[[A]]#2 by 16
// CHECK:         te.unroll %[[O]]
// CHECK:         te.vectorize %[[I]]
// CHECK-LABEL: te.schedule for @sixteen
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK:         te.vectorize %[[A]]#1
func.func @main(%x: tensor<4096x128xf32>) -> (tensor<4096x4xf32>, tensor<4096x16xf32>) {
  %v = relay.constant dense<0.5> : tensor<128x4xf32>
  %w = relay.constant dense<0.25> : tensor<128x16xf32>
  %0 = call @four(%x, %v) : (tensor<4096x128xf32>, tensor<128x4xf32>) -> tensor<4096x4xf32>
  %1 = call @sixteen(%x, %w) : (tensor<4096x128xf32>, tensor<128x16xf32>) -> tensor<4096x16xf32>
  return %0, %1 : tensor<4096x4xf32>, tensor<4096x16xf32>
}
func.func @four(%x: tensor<4096x128xf32>, %w: tensor<128x4xf32>) -> tensor<4096x4xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<4096x128xf32>, tensor<128x4xf32>) -> tensor<4096x4xf32>
  return %0 : tensor<4096x4xf32>
}
func.func @sixteen(%x: tensor<4096x128xf32>, %w: tensor<128x16xf32>) -> tensor<4096x16xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<4096x128xf32>, tensor<128x16xf32>) -> tensor<4096x16xf32>
  return %0 : tensor<4096x16xf32>
}
