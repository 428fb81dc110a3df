// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver5},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// Where all kernels together have so many weights that they leave the caches, those of the next panel are prefetched in the steps of this one.
// CHECK-LABEL: te.schedule for @columns
// CHECK:         te.split %{{.*}} by 9
// CHECK-NEXT:    %[[PANELS:.*]], %{{.*}} = te.split %{{.*}}#1 by 32
// CHECK:         %[[PRODUCTS:.*]]:4 = te.axes
// CHECK:         %[[U:.*]] = te.input 1
// CHECK:         te.prefetch %[[U]], %[[PANELS]] ahead 1 over %[[PRODUCTS]]#2
func.func @main(%x: tensor<512x2048xf32>) -> tensor<512x2048xf32> {
  %u = relay.constant dense<1.0> : tensor<2054x2048xf32>
  %0 = call @columns(%x, %u) : (tensor<512x2048xf32>, tensor<2054x2048xf32>) -> tensor<512x2048xf32>
  return %0 : tensor<512x2048xf32>
}
func.func private @columns(%x: tensor<512x2048xf32>, %u: tensor<2054x2048xf32>) -> tensor<512x2048xf32> attributes {relay.primitive} {
  %0 = relay.matmul_inner_product_trick %x, %u : (tensor<512x2048xf32>, tensor<2054x2048xf32>) -> tensor<512x2048xf32>
  return %0 : tensor<512x2048xf32>
}

// -----

// Of filters those of the next tile, where vectors go along places.
// CHECK-LABEL: te.schedule for @filters
// CHECK:         %[[TILES:.*]], %{{.*}} = te.split %{{.*}}#1 by 9
// CHECK:         te.prefetch %{{.*}}, %[[TILES]] ahead 1 over
func.func @main(%x: tensor<1x1536x28x28xf32>) -> tensor<1x2048x28x28xf32> {
  %u = relay.constant dense<1.0> : tensor<1538x2048xf32>
  %0 = call @filters(%x, %u) : (tensor<1x1536x28x28xf32>, tensor<1538x2048xf32>) -> tensor<1x2048x28x28xf32>
  return %0 : tensor<1x2048x28x28xf32>
}
func.func private @filters(%x: tensor<1x1536x28x28xf32>, %u: tensor<1538x2048xf32>) -> tensor<1x2048x28x28xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_inner_product_trick %x, %u : (tensor<1x1536x28x28xf32>, tensor<1538x2048xf32>) -> tensor<1x2048x28x28xf32>
  return %0 : tensor<1x2048x28x28xf32>
}

// -----

// Few weights stay in the caches.
// CHECK-LABEL: te.schedule for @few
// CHECK-NOT:     te.prefetch
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %u = relay.constant dense<1.0> : tensor<518x512xf32>
  %0 = call @few(%x, %u) : (tensor<512x512xf32>, tensor<518x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func private @few(%x: tensor<512x512xf32>, %u: tensor<518x512xf32>) -> tensor<512x512xf32> attributes {relay.primitive} {
  %0 = relay.matmul_inner_product_trick %x, %u : (tensor<512x512xf32>, tensor<518x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
