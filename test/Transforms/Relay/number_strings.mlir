// RUN: fusion-opt %s --relay-number-strings --split-input-file | FileCheck %s

// Without a list a module's own constants make one.

// CHECK-LABEL: module attributes {relay.strings = ["b", "a"]}
// CHECK:         func.func @own(%arg0: tensor<?x2xi64, #relay.dims<["n", ""]>>) -> tensor<?x2xi64, #relay.dims<["n", ""]>>
// CHECK-NEXT:      %[[KEYS:.*]] = relay.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT:      %[[NONE:.*]] = relay.constant dense<1> : tensor<i64>
// CHECK-NEXT:      %[[SAME:.*]] = relay.equal %arg0, %[[KEYS]]
// CHECK-NEXT:      relay.where %[[SAME]], %arg0, %[[NONE]]
func.func @own(%x: tensor<?x2x!relay.string, #relay.dims<["n", ""]>>) -> tensor<?x2x!relay.string, #relay.dims<["n", ""]>> {
  %keys = relay.constant dense<["b", "a"]> : tensor<2x!relay.string>
  %none = relay.constant dense<"a"> : tensor<!relay.string>
  %same = relay.equal %x, %keys : (tensor<?x2x!relay.string, #relay.dims<["n", ""]>>, tensor<2x!relay.string>) -> tensor<?x2xi1, #relay.dims<["n", ""]>>
  %y = relay.where %same, %x, %none : (tensor<?x2xi1, #relay.dims<["n", ""]>>, tensor<?x2x!relay.string, #relay.dims<["n", ""]>>, tensor<!relay.string>) -> tensor<?x2x!relay.string, #relay.dims<["n", ""]>>
  return %y : tensor<?x2x!relay.string, #relay.dims<["n", ""]>>
}

// -----

// CHECK-LABEL: module attributes {relay.strings = ["x", "y", "z"]}
// CHECK:         func.func @given(%arg0: tensor<i1>) -> tensor<2xi64>
// CHECK-NEXT:      relay.if %arg0 {
// CHECK-NEXT:        %[[Z:.*]] = relay.constant dense<2> : tensor<2xi64>
// CHECK:             relay.constant dense<[1, 0]> : tensor<2xi64>
// CHECK:           } : (tensor<i1>) -> tensor<2xi64>
module attributes {relay.strings = ["x", "y", "z"]} {
  func.func @given(%c: tensor<i1>) -> tensor<2x!relay.string> {
    %0 = relay.if %c {
      %z = relay.constant dense<"z"> : tensor<2x!relay.string>
      relay.yield %z : tensor<2x!relay.string>
    } else {
      %y = relay.constant dense<["y", "x"]> : tensor<2x!relay.string>
      relay.yield %y : tensor<2x!relay.string>
    } : (tensor<i1>) -> tensor<2x!relay.string>
    return %0 : tensor<2x!relay.string>
  }
}
