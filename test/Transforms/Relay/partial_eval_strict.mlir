// RUN: fusion-opt %s --relay-partial-eval="strict=true fuel=100" --verify-diagnostics
// RUN: fusion-opt %s --relay-partial-eval="fuel=100" | FileCheck %s

// A recursion over known values that does not end: an error, or a call of what is left.
// CHECK-LABEL: func.func @main
// CHECK:         relay.call @endless
func.func private @endless(%n: tensor<i32>) -> tensor<i32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %c {
    relay.yield %n : tensor<i32>
  } else {
    %m = relay.add %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    // expected-error @+1 {{calls @endless again and again on values that are known: the recursion does not end within 100 unfolded calls, 4096 deep; add a case that ends it, or allow more by the options fuel and depth}}
    %s = relay.call @endless(%m) : (tensor<i32>) -> tensor<i32>
    relay.yield %s : tensor<i32>
  } : (tensor<i1>) -> tensor<i32>
  return %r : tensor<i32>
}
func.func @main() -> tensor<i32> {
  %one = relay.constant dense<1> : tensor<i32>
  %0 = relay.call @endless(%one) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
