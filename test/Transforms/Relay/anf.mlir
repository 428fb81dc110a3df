// RUN: fusion-opt %s --relay-to-anf --split-input-file | FileCheck %s

// What one branch alone uses is computed in that branch, in front of what uses it.
// CHECK-LABEL: func.func @one_branch
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      %[[A:.*]] = relay.exp %arg1
// CHECK-NEXT:      %[[B:.*]] = relay.neg %[[A]]
// CHECK-NEXT:      relay.yield %[[B]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %arg1
func.func @one_branch(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = relay.neg %0 : (tensor<f32>) -> tensor<f32>
  %2 = relay.if %c {
    relay.yield %1 : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// What both branches use stays before them; so does everything that is where it must be.
// CHECK-LABEL: func.func @both_branches
// CHECK-NEXT:    %[[A:.*]] = relay.exp %arg1
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      relay.yield %[[A]]
func.func @both_branches(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = relay.if %c {
    relay.yield %0 : tensor<f32>
  } else {
    %2 = relay.neg %0 : (tensor<f32>) -> tensor<f32>
    relay.yield %2 : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Closures and loops run their bodies more than once: nothing goes into them. Reads stay in the order of effects.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT:    %[[A:.*]] = relay.exp %arg0
// CHECK-NEXT:    relay.fn
// CHECK:         %[[V:.*]] = relay.ref.read %arg1
// CHECK-NEXT:    relay.ref.write %arg1, %arg0
// CHECK-NEXT:    relay.if %arg2 {
// CHECK-NEXT:      relay.yield %[[V]]
func.func @stays(%x: tensor<f32>, %r: !relay.ref<tensor<f32>>, %c: tensor<i1>) -> (tensor<f32>, () -> tensor<f32>) {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = relay.fn {
    relay.yield %0 : tensor<f32>
  } : () -> tensor<f32>
  %2 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  relay.ref.write %r, %x : !relay.ref<tensor<f32>>, tensor<f32>
  %3 = relay.if %c {
    relay.yield %2 : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  return %3, %1 : tensor<f32>, () -> tensor<f32>
}
