// A loop over data, whose state changes places, and cells that are written in order.
relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

func.func @main(%n: tensor<i32>) -> tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>, tensor<i32>> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<i32>]>
  %cell = relay.ref.new %zero : tensor<i32> -> !relay.ref<tensor<i32>>
  %r:3 = relay.while(%n, %nil, %nil) {
  ^bb0(%i: tensor<i32>, %a: !relay.adt<@List, [tensor<i32>]>, %b: !relay.adt<@List, [tensor<i32>]>):
    %go = relay.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    relay.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: !relay.adt<@List, [tensor<i32>]>, %b: !relay.adt<@List, [tensor<i32>]>):
    %c = relay.construct @List::@Cons(%i, %a) : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    %old = relay.ref.read %cell : !relay.ref<tensor<i32>> -> tensor<i32>
    %new = relay.add %old, %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.ref.write %cell, %new : !relay.ref<tensor<i32>>, tensor<i32>
    %j = relay.sub %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %j, %b, %c : tensor<i32>, !relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>
  } : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>) -> (tensor<i32>, !relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>)
  %sum = relay.ref.read %cell : !relay.ref<tensor<i32>> -> tensor<i32>
  %t = relay.tuple %r#1, %r#2, %sum : (!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>, tensor<i32>) -> tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>, tensor<i32>>
  return %t : tuple<!relay.adt<@List, [tensor<i32>]>, !relay.adt<@List, [tensor<i32>]>, tensor<i32>>
}
