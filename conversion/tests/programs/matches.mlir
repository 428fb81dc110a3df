// Nested patterns over a tuple that is never made, clauses that several ways lead to, parts that are not bound.
relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
relay.data @Box ["a"] [#relay.constructor<"Box", [!relay.var<"a">]>]

func.func @zip(%a: !relay.adt<@List, [tensor<i32>]>, %b: !relay.adt<@List, [tensor<i32>]>, %last: tensor<i32>) -> !relay.adt<@List, [tensor<i32>]> {
  %t = relay.tuple %a, %b : (!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>) -> tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>>
  %0 = relay.match %t : (tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>>) -> !relay.adt<@List, [tensor<i32>]>
  case [[@List::@Cons, "x", "xs"], [@List::@Cons, "y", "ys"]] {
  ^bb0(%x: tensor<i32>, %xs: !relay.adt<@List, [tensor<i32>]>, %y: tensor<i32>, %ys: !relay.adt<@List, [tensor<i32>]>):
    %z = relay.mul %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %r = relay.call @zip(%xs, %ys, %z) : (!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>, tensor<i32>) -> !relay.adt<@List, [tensor<i32>]>
    %c = relay.construct @List::@Cons(%z, %r) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    relay.yield %c : !relay.adt<@List, [tensor<i32>]>
  }
  case ["_", [@List::@Cons, "y", [@List::@Nil]]] {
  ^bb0(%y: tensor<i32>):
    %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
    %c = relay.construct @List::@Cons(%y, %nil) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    relay.yield %c : !relay.adt<@List, [tensor<i32>]>
  }
  case ["rest", "_"] {
  ^bb0(%rest: !relay.adt<@List, [tensor<i32>]>):
    %c = relay.construct @List::@Cons(%last, %rest) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    relay.yield %c : !relay.adt<@List, [tensor<i32>]>
  }
  return %0 : !relay.adt<@List, [tensor<i32>]>
}

func.func @list(%n: tensor<i32>) -> !relay.adt<@List, [tensor<i32>]> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %go = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = relay.if %go {
    %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %r = relay.call @list(%m) : (tensor<i32>) -> !relay.adt<@List, [tensor<i32>]>
    %c = relay.construct @List::@Cons(%n, %r) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    relay.yield %c : !relay.adt<@List, [tensor<i32>]>
  } else {
    %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
    relay.yield %nil : !relay.adt<@List, [tensor<i32>]>
  } : (tensor<i1>) -> !relay.adt<@List, [tensor<i32>]>
  return %0 : !relay.adt<@List, [tensor<i32>]>
}

func.func @main(%n: tensor<i32>, %m: tensor<i32>) -> !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]> {
  %a = relay.call @list(%n) : (tensor<i32>) -> !relay.adt<@List, [tensor<i32>]>
  %b = relay.call @list(%m) : (tensor<i32>) -> !relay.adt<@List, [tensor<i32>]>
  %z = relay.call @zip(%a, %b, %n) : (!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>, tensor<i32>) -> !relay.adt<@List, [tensor<i32>]>
  %box = relay.construct @Box::@Box(%z) : (!relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>
  %0 = relay.match %box : (!relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>) -> !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>
  case [@Box::@Box, [@List::@Cons, "_", "rest"]] {
  ^bb0(%rest: !relay.adt<@List, [tensor<i32>]>):
    %1 = relay.construct @Box::@Box(%rest) : (!relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>
    relay.yield %1 : !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>
  }
  case "whole" {
  ^bb0(%whole: !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>):
    relay.yield %whole : !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>
  }
  return %0 : !relay.adt<@Box, [!relay.adt<@List, [tensor<i32>]>]>
}
