// RUN: fusion-opt %s --relay-outline-kernels --split-input-file | FileCheck %s

// The number that says how many elements there are is computed by a kernel before the one that needs it.
// CHECK-LABEL: func.func @first(
// CHECK-NEXT:    %[[N:.*]] = call @kernel_0(%arg0)
// CHECK-NEXT:    %[[Y:.*]] = call @kernel_1(%[[N]], %arg0)
// CHECK-NEXT:    return %[[Y]]
// CHECK:       func.func private @kernel_0(%arg0: tensor<8xi64>) -> tensor<i64>
// CHECK-NEXT:    relay.reduce_sum
// CHECK:       func.func private @kernel_1(%arg0: tensor<i64>, %arg1: tensor<8xi64>) -> tensor<?xi64>
// CHECK-NEXT:    relay.dynamic_iota %arg0
// CHECK-NEXT:    relay.gather
// CHECK-NEXT:    return
func.func @first(%x: tensor<8xi64>) -> tensor<?xi64> {
  %n = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<8xi64>) -> tensor<i64>
  %places = relay.dynamic_iota %n : (tensor<i64>) -> tensor<?xi64>
  %y = relay.gather %x, %places {axis = 0 : i64} : (tensor<8xi64>, tensor<?xi64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// So is a number that follows from a tensor of such an extent.
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT:    %[[M:.*]] = call @kernel_0(%arg0)
// CHECK-NEXT:    %[[Q:.*]] = call @kernel_1(%[[M]])
// CHECK-NEXT:    return %[[Q]]
// CHECK:       func.func private @kernel_0(
// CHECK-NEXT:    relay.dynamic_iota
// CHECK-NEXT:    relay.reduce_sum
func.func @twice(%n: tensor<i64>) -> tensor<?xi64> {
  %places = relay.dynamic_iota %n : (tensor<i64>) -> tensor<?xi64>
  %m = relay.reduce_sum %places {axes = array<i64: 0>} : (tensor<?xi64>) -> tensor<i64>
  %more = relay.dynamic_iota %m : (tensor<i64>) -> tensor<?xi64>
  return %more : tensor<?xi64>
}
