// RUN: fusion-opt %s --relay-lift-lambdas --split-input-file | FileCheck %s

// What a closure captured comes first.
// CHECK-LABEL: func.func @called
// CHECK-NEXT:    %[[A:.*]] = relay.call @called$lambda$0(%arg1, %arg0)
// CHECK-NEXT:    relay.call @called$lambda$0(%arg1, %[[A]])
// CHECK:       func.func private @called$lambda$0(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    relay.sub %arg1, %arg0
func.func @called(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %f = relay.fn {
  ^bb0(%a: tensor<f32>):
    %0 = relay.sub %a, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %1 = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
  %2 = relay.apply %f(%1) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A closure that calls itself calls the function.
// CHECK-LABEL: func.func @recursive
// CHECK-NEXT:    relay.call @recursive$lambda$0(%arg1, %arg0)
// CHECK:       func.func private @recursive$lambda$0(
// CHECK:           relay.call @recursive$lambda$0(%arg0, %{{.*}})
func.func @recursive(%n: tensor<i32>, %step: tensor<i32>) -> tensor<i32> {
  %f = relay.fn attributes {relay.recursive} {
  ^bb0(%self: (tensor<i32>) -> tensor<i32>, %m: tensor<i32>):
    %c = relay.less %m, %step : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %c {
      relay.yield %m : tensor<i32>
    } else {
      %k = relay.sub %m, %step : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %s = relay.apply %self(%k) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    } : (tensor<i1>) -> tensor<i32>
    relay.yield %r : tensor<i32>
  } : (tensor<i32>) -> tensor<i32>
  %r = relay.apply %f(%n) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}

// -----

// As a value, a function that captures nothing is a function of the module.
// CHECK-LABEL: func.func @closed
// CHECK-NEXT:    %[[F:.*]] = relay.global @closed$lambda$0 : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    return %[[F]]
func.func @closed() -> ((tensor<f32>) -> tensor<f32>) {
  %f = relay.fn {
  ^bb0(%a: tensor<f32>):
    relay.yield %a : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return %f : (tensor<f32>) -> tensor<f32>
}

// -----

// One that captures and is handed on stays; its effects are its own.
// CHECK-LABEL: func.func @escapes
// CHECK-NEXT:    relay.fn {
// CHECK-NEXT:      relay.ref.write
func.func @escapes(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>) -> (() -> tensor<f32>) {
  %f = relay.fn {
    relay.ref.write %r, %x : !relay.ref<tensor<f32>>, tensor<f32>
    relay.yield %x : tensor<f32>
  } : () -> tensor<f32>
  return %f : () -> tensor<f32>
}
