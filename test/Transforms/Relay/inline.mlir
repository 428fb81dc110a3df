// RUN: fusion-opt %s --relay-inline --split-input-file | FileCheck %s
// RUN: fusion-opt %s --relay-inline=fuel=0 --split-input-file | FileCheck %s --check-prefix=FUEL

// A polymorphic function is copied at the types of the call, and goes when nothing calls it.
// CHECK-NOT:   func.func private
// CHECK-LABEL: func.func @small
// CHECK-NEXT:    relay.tuple %arg0, %arg0 : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
// CHECK-NEXT:    return
// FUEL-LABEL:  func.func @small
// FUEL-NEXT:     relay.call @twice
func.func private @twice(%x: !relay.var<"a">) -> tuple<!relay.var<"a">, !relay.var<"a">> attributes {relay.type_params = ["a"]} {
  %0 = relay.tuple %x, %x : (!relay.var<"a">, !relay.var<"a">) -> tuple<!relay.var<"a">, !relay.var<"a">>
  return %0 : tuple<!relay.var<"a">, !relay.var<"a">>
}
func.func @small(%x: tensor<f32>) -> tuple<tensor<f32>, tensor<f32>> {
  %0 = relay.call @twice(%x) : (tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  return %0 : tuple<tensor<f32>, tensor<f32>>
}

// -----

// Functions that call themselves, also through others, stay calls.
// CHECK-LABEL: func.func @recursive
// CHECK:         relay.call @other
func.func @recursive(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.call @other(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @other(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.call @recursive(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Effects keep their order; a closure that is called once is its body.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    relay.ref.write %arg0, %arg1
// CHECK-NEXT:    relay.ref.write %arg0, %arg2
// CHECK-NEXT:    relay.ref.read %arg0
// CHECK-NEXT:    return
func.func @effects(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %f = relay.fn {
  ^bb0(%a: tensor<f32>):
    relay.ref.write %r, %a : !relay.ref<tensor<f32>>, tensor<f32>
    %0 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
    relay.yield %0 : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  relay.ref.write %r, %x : !relay.ref<tensor<f32>>, tensor<f32>
  %1 = relay.apply %f(%y) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
