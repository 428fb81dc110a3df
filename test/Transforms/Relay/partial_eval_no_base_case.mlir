// RUN: fusion-opt %s --relay-partial-eval="strict=true" --verify-diagnostics

// A function that calls itself on every way through it gives no value.
func.func private @endless(%n: tensor<i32>) -> tensor<i32> {
  %one = relay.constant dense<1> : tensor<i32>
  %next = relay.add %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = relay.call @endless(%next) : (tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  // expected-error @+1 {{calls @endless, which calls itself whatever it is given; add a case that ends the recursion}}
  %r = relay.call @endless(%n) : (tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}
