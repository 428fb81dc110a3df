// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},convert-relay-to-te,te-schedule)' | FileCheck %s

// Where several tiles of rows multiply a panel, all of them prefetch parts of the next one: the first would wait for its own.
// CHECK-LABEL: te.schedule for @first
// CHECK:         %[[W:.*]] = te.input 1
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK:         %[[P:[a-z_0-9]+]], %{{.*}} = te.split %[[A]]#1 by 32
// CHECK:         te.split %[[A]]#0 by 14
// CHECK:         te.prefetch %[[W]], %[[P]] ahead 1 over %[[A]]#2
// CHECK-LABEL: te.schedule for @second
func.func @main(%x: tensor<98x512xf32>) -> tensor<98x96xf32> {
  %v = relay.constant dense<0.5> : tensor<512x1024xf32>
  %w = relay.constant dense<0.25> : tensor<1024x96xf32>
  %0 = call @first(%x, %v) : (tensor<98x512xf32>, tensor<512x1024xf32>) -> tensor<98x1024xf32>
  %1 = call @second(%0, %w) : (tensor<98x1024xf32>, tensor<1024x96xf32>) -> tensor<98x96xf32>
  return %1 : tensor<98x96xf32>
}
func.func @first(%x: tensor<98x512xf32>, %w: tensor<512x1024xf32>) -> tensor<98x1024xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<98x512xf32>, tensor<512x1024xf32>) -> tensor<98x1024xf32>
  return %0 : tensor<98x1024xf32>
}
func.func @second(%x: tensor<98x1024xf32>, %w: tensor<1024x96xf32>) -> tensor<98x96xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<98x1024xf32>, tensor<1024x96xf32>) -> tensor<98x96xf32>
  return %0 : tensor<98x96xf32>
}
