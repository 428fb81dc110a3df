// RUN: fusion-opt %s -o %t.before
// RUN: fusion-opt %s --relay-check-match -o %t.after
// RUN: diff %t.before %t.after

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

func.func @zip(%t: tuple<!relay.adt<@List, [tensor<f32>]>, !relay.adt<@List, [tensor<f32>]>>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = relay.match %t : (tuple<!relay.adt<@List, [tensor<f32>]>, !relay.adt<@List, [tensor<f32>]>>) -> tensor<f32>
  case [[@List::@Nil], "_"] { relay.yield %zero : tensor<f32> }
  case ["_", [@List::@Nil]] { relay.yield %zero : tensor<f32> }
  case [[@List::@Cons, "x", "_"], [@List::@Cons, "y", "_"]] {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = relay.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

func.func @second(%l: !relay.adt<@List, [tensor<f32>]>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = relay.match %l : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
  case [@List::@Cons, "_", [@List::@Cons, "x", "_"]] {
  ^bb0(%x: tensor<f32>):
    relay.yield %x : tensor<f32>
  }
  case "_" { relay.yield %zero : tensor<f32> }
  return %0 : tensor<f32>
}

func.func @head(%l: !relay.adt<@List, [tensor<f32>]>) -> tensor<f32> {
  %0 = relay.match %l : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32> {relay.partial}
  case [@List::@Cons, "x", "_"] {
  ^bb0(%x: tensor<f32>):
    relay.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}
