// RUN: fusion-opt %s --relay-to-graph-form --split-input-file | FileCheck %s

// Constants and tuples leave branches and closures, equal values are one, dead ones are gone; operators stay in their branch.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT:    %[[ONE:.*]] = relay.constant dense<1.000000e+00>
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      %[[A:.*]] = relay.add %arg1, %[[ONE]]
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %[[ONE]]
func.func @shared(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %dead = relay.exp %x : (tensor<f32>) -> tensor<f32>
  %0 = relay.if %c {
    %one = relay.constant dense<1.0> : tensor<f32>
    %1 = relay.add %x, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  } else {
    %one = relay.constant dense<1.0> : tensor<f32>
    relay.yield %one : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Writes stay, in their order, and so do reads between them.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    relay.ref.write %arg0, %arg1
// CHECK-NEXT:    %[[A:.*]] = relay.ref.read %arg0
// CHECK-NEXT:    relay.ref.write %arg0, %arg2
// CHECK-NEXT:    %[[B:.*]] = relay.ref.read %arg0
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @effects(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  relay.ref.write %r, %x : !relay.ref<tensor<f32>>, tensor<f32>
  %0 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  relay.ref.write %r, %y : !relay.ref<tensor<f32>>, tensor<f32>
  %1 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @no_change
// CHECK-NEXT:    relay.exp
// CHECK-NEXT:    return
func.func @no_change(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
