// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @strings
// CHECK-SAME:    %arg0: tensor<2x?x!relay.string>
// CHECK-NEXT:    relay.constant dense<["a", "", "\22\0A\C3\A9"]> : tensor<3x!relay.string>
// CHECK-NEXT:    relay.constant dense<"b"> : tensor<2x!relay.string>
// CHECK-NEXT:    relay.string_concat %arg0, %arg1 : (tensor<2x?x!relay.string>, tensor<!relay.string>) -> tensor<2x?x!relay.string>
// CHECK-NEXT:    relay.string_split %arg0 {delimiter = ", ", maxsplit = 2 : i64} : (tensor<2x?x!relay.string>) -> (tensor<2x?x?x!relay.string>, tensor<2x?xi64>)
// CHECK-NEXT:    relay.string_case %arg1 {to = "lower"} : (tensor<!relay.string>) -> tensor<!relay.string>
// CHECK-NEXT:    relay.string_match %arg1 {pattern = "a+"} : (tensor<!relay.string>) -> tensor<i1>
// CHECK-NEXT:    relay.string_of %arg2 : (tensor<2xf32>) -> tensor<2x!relay.string>
// CHECK-NEXT:    relay.string_to_number %arg1 {dtype = i64} : (tensor<!relay.string>) -> tensor<i64>
func.func @strings(%x: tensor<2x?x!relay.string>, %s: tensor<!relay.string>, %n: tensor<2xf32>) {
  %0 = relay.constant dense<["a", "", "\"\né"]> : tensor<3x!relay.string>
  %1 = relay.constant dense<"b"> : tensor<2x!relay.string>
  %2 = relay.string_concat %x, %s : (tensor<2x?x!relay.string>, tensor<!relay.string>) -> tensor<2x?x!relay.string>
  %3:2 = relay.string_split %x {delimiter = ", ", maxsplit = 2 : i64} : (tensor<2x?x!relay.string>) -> (tensor<2x?x?x!relay.string>, tensor<2x?xi64>)
  %4 = relay.string_case %s {to = "lower"} : (tensor<!relay.string>) -> tensor<!relay.string>
  %5 = relay.string_match %s {pattern = "a+"} : (tensor<!relay.string>) -> tensor<i1>
  %6 = relay.string_of %n : (tensor<2xf32>) -> tensor<2x!relay.string>
  %7 = relay.string_to_number %s {dtype = i64} : (tensor<!relay.string>) -> tensor<i64>
  return
}
