// RUN: fusion-opt %s -o %t.before
// RUN: fusion-opt %s --relay-infer-types -o %t.after
// RUN: diff %t.before %t.after

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

func.func @main(%x: tensor<?x10xf32, #relay.dims<["batch", ""]>>, %w: tensor<20x10xf32>, %c: tensor<i1>, %l: !relay.adt<@List, [tensor<2xf32>]>) -> (tensor<?x20xf32>, tensor<2xf32>) {
  %0 = relay.dense %x, %w : (tensor<?x10xf32, #relay.dims<["batch", ""]>>, tensor<20x10xf32>) -> tensor<?x20xf32>
  %1 = relay.if %c {
    relay.yield %0 : tensor<?x20xf32>
  } else {
    %2 = relay.relu %0 : (tensor<?x20xf32>) -> tensor<?x20xf32>
    relay.yield %2 : tensor<?x20xf32>
  } : (tensor<i1>) -> tensor<?x20xf32>
  %f = relay.fn {
  ^bb0(%a: !relay.var<"b">):
    relay.yield %a : !relay.var<"b">
  } : (!relay.var<"b">) -> !relay.var<"b">
  %3 = relay.apply %f(%1) : (!relay.var<"b">) -> !relay.var<"b">, (tensor<?x20xf32>) -> tensor<?x20xf32>
  %4 = relay.match %l : (!relay.adt<@List, [tensor<2xf32>]>) -> tensor<2xf32>
  case [@List::@Nil] {
    %5 = relay.constant dense<0.0> : tensor<2xf32>
    relay.yield %5 : tensor<2xf32>
  }
  case [@List::@Cons, "x", "_"] {
  ^bb0(%y: tensor<2xf32>):
    relay.yield %y : tensor<2xf32>
  }
  return %3, %4 : tensor<?x20xf32>, tensor<2xf32>
}

func.func private @identity(%x: !relay.var<"a">) -> !relay.var<"a"> attributes {relay.type_params = ["a"]} {
  return %x : !relay.var<"a">
}
