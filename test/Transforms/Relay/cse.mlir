// RUN: fusion-opt %s --relay-cse | FileCheck %s

func.func private @pure(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @calls
// CHECK-NEXT:    %[[A:.*]] = relay.call @pure(%arg0)
// CHECK-NEXT:    relay.add %[[A]], %[[A]]
func.func @calls(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.call @pure(%x) : (tensor<f32>) -> tensor<f32>
  %1 = relay.call @pure(%x) : (tensor<f32>) -> tensor<f32>
  %2 = relay.add %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// A read is shared as long as nothing may have written.
// CHECK-LABEL: func.func @reads
// CHECK-NEXT:    %[[A:.*]] = relay.ref.read %arg0
// CHECK-NEXT:    relay.ref.write %arg1, %arg2
// CHECK-NEXT:    %[[B:.*]] = relay.ref.read %arg0
// CHECK-NEXT:    return %[[A]], %[[A]], %[[B]]
func.func @reads(%r: !relay.ref<tensor<f32>>, %s: !relay.ref<tensor<f32>>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  %1 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  relay.ref.write %s, %x : !relay.ref<tensor<f32>>, tensor<f32>
  %2 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Two cells are two; other attributes make another value.
// CHECK-LABEL: func.func @no_change
// CHECK-NEXT:    relay.ref.new
// CHECK-NEXT:    relay.ref.new
// CHECK-NEXT:    relay.reduce_sum %{{.*}} {axes = array<i64: 0>}
// CHECK-NEXT:    relay.reduce_sum %{{.*}} {axes = array<i64: 1>}
func.func @no_change(%x: tensor<2x2xf32>) -> (!relay.ref<tensor<2x2xf32>>, !relay.ref<tensor<2x2xf32>>, tensor<2xf32>, tensor<2xf32>) {
  %0 = relay.ref.new %x : tensor<2x2xf32> -> !relay.ref<tensor<2x2xf32>>
  %1 = relay.ref.new %x : tensor<2x2xf32> -> !relay.ref<tensor<2x2xf32>>
  %2 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
  %3 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : !relay.ref<tensor<2x2xf32>>, !relay.ref<tensor<2x2xf32>>, tensor<2xf32>, tensor<2xf32>
}
