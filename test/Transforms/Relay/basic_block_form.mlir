// RUN: fusion-opt %s --relay-to-basic-block-form --split-input-file | FileCheck %s

// What all branches compute is computed before them.
// CHECK-LABEL: func.func @all_branches
// CHECK-NEXT:    %[[E:.*]] = relay.exp %arg1
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      relay.yield %[[E]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[N:.*]] = relay.neg %[[E]]
// CHECK-NEXT:      relay.yield %[[N]]
func.func @all_branches(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.if %c {
    %1 = relay.exp %x : (tensor<f32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  } else {
    %1 = relay.exp %x : (tensor<f32>) -> tensor<f32>
    %2 = relay.neg %1 : (tensor<f32>) -> tensor<f32>
    relay.yield %2 : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What some branches compute stays in them, unless it costs nothing.
relay.data @Three [] [#relay.constructor<"A">, #relay.constructor<"B">, #relay.constructor<"C">]
// CHECK-LABEL: func.func @some_branches
// CHECK-NEXT:    %[[ONE:.*]] = relay.constant dense<1.000000e+00>
// CHECK-NEXT:    relay.match
// CHECK-NEXT:    case [@Three::@A] {
// CHECK-NEXT:      relay.exp %[[ONE]]
// CHECK:         case [@Three::@B] {
// CHECK-NEXT:      relay.exp %[[ONE]]
// CHECK:         case "_" {
// CHECK-NEXT:      relay.yield %arg1
func.func @some_branches(%t: !relay.adt<@Three>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.match %t : (!relay.adt<@Three>) -> tensor<f32>
  case [@Three::@A] {
    %1 = relay.constant dense<1.0> : tensor<f32>
    %2 = relay.exp %1 : (tensor<f32>) -> tensor<f32>
    relay.yield %2 : tensor<f32>
  }
  case [@Three::@B] {
    %1 = relay.constant dense<1.0> : tensor<f32>
    %2 = relay.exp %1 : (tensor<f32>) -> tensor<f32>
    relay.yield %2 : tensor<f32>
  }
  case "_" {
    relay.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Reads and writes stay where they are.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      relay.ref.read
func.func @effects(%c: tensor<i1>, %r: !relay.ref<tensor<f32>>) -> tensor<f32> {
  %0 = relay.if %c {
    %1 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
    relay.yield %1 : tensor<f32>
  } else {
    %1 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
    %2 = relay.neg %1 : (tensor<f32>) -> tensor<f32>
    relay.yield %2 : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}
