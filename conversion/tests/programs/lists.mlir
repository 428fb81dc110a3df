// Lists: built by a tail call, mapped with a closure that captures, folded with a function of the module as a value.
relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

func.func @count(%n: tensor<i32>, %rest: !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %go = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = relay.if %go {
    %x = relay.cast %n {dtype = f32} : (tensor<i32>) -> tensor<f32>
    %l = relay.construct @List::@Cons(%x, %rest) : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
    %m = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %r = relay.call @count(%m, %l) : (tensor<i32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
    relay.yield %r : !relay.adt<@List, [tensor<f32>]>
  } else {
    relay.yield %rest : !relay.adt<@List, [tensor<f32>]>
  } : (tensor<i1>) -> !relay.adt<@List, [tensor<f32>]>
  return %0 : !relay.adt<@List, [tensor<f32>]>
}

func.func @map(%f: (tensor<f32>) -> tensor<f32>, %l: !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]> {
  %0 = relay.match %l : (!relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
  case [@List::@Nil] {
    relay.yield %l : !relay.adt<@List, [tensor<f32>]>
  }
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: tensor<f32>, %rest: !relay.adt<@List, [tensor<f32>]>):
    %y = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<f32>) -> tensor<f32>
    %r = relay.call @map(%f, %rest) : ((tensor<f32>) -> tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
    %c = relay.construct @List::@Cons(%y, %r) : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
    relay.yield %c : !relay.adt<@List, [tensor<f32>]>
  }
  return %0 : !relay.adt<@List, [tensor<f32>]>
}

func.func @fold(%f: (tensor<f32>, tensor<f32>) -> tensor<f32>, %start: tensor<f32>, %l: !relay.adt<@List, [tensor<f32>]>) -> tensor<f32> {
  %0 = relay.match %l : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: tensor<f32>, %rest: !relay.adt<@List, [tensor<f32>]>):
    %y = relay.apply %f(%start, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>, (tensor<f32>, tensor<f32>) -> tensor<f32>
    %r = relay.call @fold(%f, %y, %rest) : ((tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
    relay.yield %r : tensor<f32>
  }
  case "_" {
    relay.yield %start : tensor<f32>
  }
  return %0 : tensor<f32>
}

func.func @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = relay.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @main(%scale: tensor<f32>) -> tuple<tensor<f32>, !relay.adt<@List, [tensor<f32>]>> {
  %n = relay.constant dense<5> : tensor<i32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %nil = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<f32>]>
  %l = relay.call @count(%n, %nil) : (tensor<i32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
  %f = relay.fn {
  ^bb0(%x: tensor<f32>):
    %y = relay.mul %x, %scale : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %y : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %m = relay.call @map(%f, %l) : ((tensor<f32>) -> tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
  %g = relay.global @add : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = relay.call @fold(%g, %zero, %m) : ((tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
  %t = relay.tuple %s, %m : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> tuple<tensor<f32>, !relay.adt<@List, [tensor<f32>]>>
  return %t : tuple<tensor<f32>, !relay.adt<@List, [tensor<f32>]>>
}
