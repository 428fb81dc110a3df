// RUN: fusion-opt %s --relay-defunctionalise --split-input-file --verify-diagnostics | FileCheck %s

// CHECK:       relay.data @Function$0 [] [#relay.constructor<"Function$double">, #relay.constructor<"Lambda$1", [tensor<f32>]>]
// CHECK-LABEL: func.func @choose
// CHECK:         relay.if %arg0 {
// CHECK:           relay.construct @Function$0::@Lambda$1(%arg2) : (tensor<f32>) -> !relay.adt<@Function$0>
// CHECK:         } else {
// CHECK:           relay.construct @Function$0::@Function$double()
// CHECK:         relay.call @apply$0(%{{.*}}, %arg1) : (!relay.adt<@Function$0>, tensor<f32>) -> tensor<f32>
// CHECK:       func.func private @apply$0(%arg0: !relay.adt<@Function$0>, %arg1: tensor<f32>) -> tensor<f32>
// CHECK:         relay.match %arg0
// CHECK-NEXT:    case [@Function$0::@Function$double] {
// CHECK-NEXT:      relay.call @double(%arg1)
// CHECK:         case [@Function$0::@Lambda$1, "c0"] {
// CHECK-NEXT:    ^bb0(%[[Y:.*]]: tensor<f32>):
// CHECK-NEXT:      relay.mul %arg1, %[[Y]]
func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @choose(%c: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %f = relay.if %c {
    %0 = relay.fn {
    ^bb0(%a: tensor<f32>):
      %1 = relay.mul %a, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relay.yield %1 : tensor<f32>
    } : (tensor<f32>) -> tensor<f32>
    relay.yield %0 : (tensor<f32>) -> tensor<f32>
  } else {
    %0 = relay.global @double : (tensor<f32>) -> tensor<f32>
    relay.yield %0 : (tensor<f32>) -> tensor<f32>
  } : (tensor<i1>) -> ((tensor<f32>) -> tensor<f32>)
  %r = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A program without function values stays, with its effects.
// CHECK-NOT:   relay.data
// CHECK-LABEL: func.func @no_change
// CHECK-NEXT:    relay.ref.write
// CHECK-NEXT:    relay.call @no_change
func.func @no_change(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  relay.ref.write %r, %x : !relay.ref<tensor<f32>>, tensor<f32>
  %0 = relay.call @no_change(%r, %x) : (!relay.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{has the type variable "a"; run relay-monomorphise before, so that each function has one type}}
func.func @polymorphic(%f: (!relay.var<"a">) -> !relay.var<"a">) attributes {relay.type_params = ["a"]} {
  return
}
