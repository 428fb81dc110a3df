// RUN: fusion-opt %s --relay-outline-kernels | FileCheck %s

// Strings are compared and moved by kernels; what makes strings stands between them.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %[[L:.*]] = relay.string_case %arg0 {to = "lower"}
// CHECK-NEXT:    %[[Y:.*]] = call @kernel_0(%[[L]], %arg1)
// CHECK-NEXT:    %[[S:.*]] = relay.string_concat %[[Y]], %arg0
// CHECK-NEXT:    return %[[S]]
// CHECK:       func.func private @kernel_0(%arg0: tensor<4x!relay.string>, %arg1: tensor<4x!relay.string>) -> tensor<4x!relay.string>
// CHECK-NEXT:    relay.constant dense<"?"> : tensor<!relay.string>
// CHECK-NEXT:    relay.equal
// CHECK-NEXT:    relay.where
// CHECK-NEXT:    return
func.func @main(%x: tensor<4x!relay.string>, %z: tensor<4x!relay.string>) -> tensor<4x!relay.string> {
  %none = relay.constant dense<"?"> : tensor<!relay.string>
  %lower = relay.string_case %x {to = "lower"} : (tensor<4x!relay.string>) -> tensor<4x!relay.string>
  %same = relay.equal %lower, %z : (tensor<4x!relay.string>, tensor<4x!relay.string>) -> tensor<4xi1>
  %y = relay.where %same, %lower, %none : (tensor<4xi1>, tensor<4x!relay.string>, tensor<!relay.string>) -> tensor<4x!relay.string>
  %both = relay.string_concat %y, %x : (tensor<4x!relay.string>, tensor<4x!relay.string>) -> tensor<4x!relay.string>
  return %both : tensor<4x!relay.string>
}
