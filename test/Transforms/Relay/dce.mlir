// RUN: fusion-opt %s --relay-dce | FileCheck %s

// CHECK-NOT: @unreached
func.func private @unreached(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }

func.func private @pure(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<f32>>
  relay.ref.write %0, %x : !relay.ref<tensor<f32>>, tensor<f32>
  %1 = relay.ref.read %0 : !relay.ref<tensor<f32>> -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @writes(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  relay.ref.write %r, %x : !relay.ref<tensor<f32>>, tensor<f32>
  return %x : tensor<f32>
}
func.func private @calls(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Calls of functions that are pure go, also when they use cells of their own.
// CHECK-LABEL: func.func @calls_of_functions
// CHECK-NEXT:    relay.call @writes
// CHECK-NEXT:    return
func.func @calls_of_functions(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>) {
  %0 = relay.call @pure(%x) : (tensor<f32>) -> tensor<f32>
  %1 = relay.call @writes(%r, %x) : (!relay.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return
}

// A function is as pure as those it is given.
// CHECK-LABEL: func.func @higher_order
// CHECK:         relay.fn {
// CHECK:           relay.ref.write
// CHECK:         relay.call @calls
// CHECK-NEXT:    relay.call @calls(%arg2, %arg1)
// CHECK-NEXT:    return
func.func @higher_order(%r: !relay.ref<tensor<f32>>, %x: tensor<f32>, %unknown: (tensor<f32>) -> tensor<f32>) {
  %good = relay.global @pure : (tensor<f32>) -> tensor<f32>
  %0 = relay.call @calls(%good, %x) : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tensor<f32>
  %bad = relay.fn {
  ^bb0(%a: tensor<f32>):
    relay.ref.write %r, %a : !relay.ref<tensor<f32>>, tensor<f32>
    relay.yield %a : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %1 = relay.call @calls(%bad, %x) : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = relay.call @calls(%unknown, %x) : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// A cell that nobody reads goes with its writes; one that leaves the function stays.
// CHECK-LABEL: func.func @cells
// CHECK-NEXT:    %[[R:.*]] = relay.ref.new %arg0
// CHECK-NEXT:    relay.ref.write %[[R]], %arg1
// CHECK-NEXT:    return %[[R]]
func.func @cells(%x: tensor<f32>, %y: tensor<f32>) -> !relay.ref<tensor<f32>> {
  %0 = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<f32>>
  relay.ref.write %0, %y : !relay.ref<tensor<f32>>, tensor<f32>
  %1 = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<f32>>
  relay.ref.write %1, %y : !relay.ref<tensor<f32>>, tensor<f32>
  return %0 : !relay.ref<tensor<f32>>
}

// CHECK-LABEL: func.func @no_change
// CHECK-NEXT:    relay.exp
// CHECK-NEXT:    return
func.func @no_change(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
