// RUN: fusion-opt %s --relay-propagate-constants --split-input-file | FileCheck %s

// A weight that goes from function to function, also around a recursion, becomes a constant where it is used.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    relay.call @cell(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-LABEL: func.func @cell(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    %[[Y:.*]] = relay.add %arg0, %[[W]]
// CHECK-NEXT:    relay.call @cell(%[[Y]]) : (tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.call @cell(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @cell(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %0 = relay.call @cell(%y, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Two constants, a function as a value, and a function that nothing calls: nothing is known.
// CHECK-LABEL: func.func @main(
// CHECK:         relay.call @two(%{{.*}})
// CHECK:         relay.call @two(%{{.*}})
// CHECK:         relay.call @value(%{{.*}})
// CHECK-LABEL: func.func @two(%arg0: tensor<f32>)
// CHECK-NEXT:    return %arg0
// CHECK-LABEL: func.func @value(%arg0: tensor<f32>)
// CHECK-NEXT:    return %arg0
// CHECK-LABEL: func.func @alone(%arg0: tensor<f32>)
// CHECK-NEXT:    return %arg0
func.func @main() -> ((tensor<f32>) -> tensor<f32>) {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.call @two(%a) : (tensor<f32>) -> tensor<f32>
  %1 = relay.call @two(%b) : (tensor<f32>) -> tensor<f32>
  %2 = relay.call @value(%a) : (tensor<f32>) -> tensor<f32>
  %f = relay.global @value : (tensor<f32>) -> tensor<f32>
  return %f : (tensor<f32>) -> tensor<f32>
}
func.func @two(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @value(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @alone(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// Without @main, all functions may be called from outside.
// CHECK-LABEL: func.func @caller(
// CHECK:         relay.call @callee(%{{.*}})
// CHECK-LABEL: func.func @callee(%arg0: tensor<f32>)
func.func @caller() -> tensor<f32> {
  %a = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.call @callee(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @callee(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// A piece of a constant is a constant, and so is a parameter that it is passed for.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     relay.slice
// CHECK:         relay.call @step(%arg0)
// CHECK:       func.func @step(%{{.*}}: tensor<2xf32>)
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<[3.000000e+00, 4.000000e+00]>
// CHECK-NEXT:    relay.mul %arg0, %[[W]]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %both = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %second = relay.slice %both {begin = array<i64: 1>, end = array<i64: 2>, axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %w = relay.squeeze %second {axes = array<i64: 0>} : (tensor<1x2xf32>) -> tensor<2xf32>
  %y = relay.call @step(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @step(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.mul %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
