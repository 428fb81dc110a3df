// RUN: fusion-opt %s --relay-infer-types --relay-monomorphise --verify-diagnostics --split-input-file

// Polymorphic recursion has no end of instances.
func.func @grow(%x: !relay.var<"a">, %c: tensor<i1>) -> tensor<i1> attributes {relay.type_params = ["a"]} {
  %0 = relay.if %c {
    relay.yield %c : tensor<i1>
  } else {
    %1 = relay.tuple %x, %x : (!relay.var<"a">, !relay.var<"a">) -> !relay.hole
    // expected-error @+1 {{'relay.call' op needs @grow at a type of more than 4096 parts or 64 levels: it uses itself at ever larger types}}
    %2 = relay.call @grow(%1, %c) : (!relay.hole, tensor<i1>) -> tensor<i1>
    relay.yield %2 : tensor<i1>
  } : (tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main(%c: tensor<i1>) -> tensor<i1> {
  %0 = relay.call @grow(%c, %c) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

func.func private @outside(!relay.var<"a">) -> !relay.var<"a">
func.func @main(%c: tensor<i1>) -> tensor<i1> {
  // expected-error @+1 {{'relay.call' op needs an instance of @outside, which is declared without a body}}
  %0 = relay.call @outside(%c) : (tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

func.func private @takes((!relay.var<"c">) -> !relay.var<"c">)
func.func @main(%x: tensor<i1>) {
  %f = relay.fn {
  ^bb0(%a: !relay.var<"b">):
    relay.yield %a : !relay.var<"b">
  } : (!relay.var<"b">) -> !relay.var<"b">
  // expected-error @+1 {{'relay.tuple' op uses a closure of the polymorphic type (!relay.var<"b">) -> !relay.var<"b"> without choosing an instance; run relay-infer-types before}}
  %0 = relay.tuple %f : ((!relay.var<"b">) -> !relay.var<"b">) -> tuple<(!relay.var<"b">) -> !relay.var<"b">>
  return
}
