// RUN: fusion-opt %s --relay-partial-eval --split-input-file | FileCheck %s

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

func.func private @rnn(%l: !relay.adt<@List, [tensor<1x4xf32>]>, %h: tensor<1x4xf32>, %w: tensor<4x4xf32>) -> tensor<1x4xf32> {
  %r = relay.match %l : (!relay.adt<@List, [tensor<1x4xf32>]>) -> tensor<1x4xf32>
  case [@List::@Nil] { relay.yield %h : tensor<1x4xf32> }
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: tensor<1x4xf32>, %rest: !relay.adt<@List, [tensor<1x4xf32>]>):
    %0 = relay.matmul %h, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %1 = relay.add %0, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %2 = relay.tanh %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %3 = relay.call @rnn(%rest, %2, %w) : (!relay.adt<@List, [tensor<1x4xf32>]>, tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    relay.yield %3 : tensor<1x4xf32>
  }
  return %r : tensor<1x4xf32>
}

// A recurrent net over a list of known length is straight-line code.
// CHECK-NOT:   @rnn
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    relay.matmul %arg2, %arg3
// CHECK-NEXT:    relay.add %{{.*}}, %arg0
// CHECK-NEXT:    relay.tanh
// CHECK-NEXT:    relay.matmul %{{.*}}, %arg3
// CHECK-NEXT:    relay.add %{{.*}}, %arg1
// CHECK-NEXT:    %[[H:.*]] = relay.tanh
// CHECK-NEXT:    return %[[H]]
func.func @main(%x0: tensor<1x4xf32>, %x1: tensor<1x4xf32>, %h: tensor<1x4xf32>, %w: tensor<4x4xf32>) -> tensor<1x4xf32> {
  %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<1x4xf32>]>
  %1 = relay.construct @List::@Cons(%x1, %0) : (tensor<1x4xf32>, !relay.adt<@List, [tensor<1x4xf32>]>) -> !relay.adt<@List, [tensor<1x4xf32>]>
  %2 = relay.construct @List::@Cons(%x0, %1) : (tensor<1x4xf32>, !relay.adt<@List, [tensor<1x4xf32>]>) -> !relay.adt<@List, [tensor<1x4xf32>]>
  %3 = relay.call @rnn(%2, %h, %w) : (!relay.adt<@List, [tensor<1x4xf32>]>, tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}

// -----

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

func.func private @map(%f: (!relay.var<"a">) -> !relay.var<"b">, %l: !relay.adt<@List, [!relay.var<"a">]>) -> !relay.adt<@List, [!relay.var<"b">]> attributes {relay.type_params = ["a", "b"]} {
  %r = relay.match %l : (!relay.adt<@List, [!relay.var<"a">]>) -> !relay.adt<@List, [!relay.var<"b">]>
  case [@List::@Nil] {
    %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [!relay.var<"b">]>
    relay.yield %0 : !relay.adt<@List, [!relay.var<"b">]>
  }
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: !relay.var<"a">, %rest: !relay.adt<@List, [!relay.var<"a">]>):
    %0 = relay.apply %f(%x) : (!relay.var<"a">) -> !relay.var<"b">, (!relay.var<"a">) -> !relay.var<"b">
    %1 = relay.call @map(%f, %rest) : ((!relay.var<"a">) -> !relay.var<"b">, !relay.adt<@List, [!relay.var<"a">]>) -> !relay.adt<@List, [!relay.var<"b">]>
    %2 = relay.construct @List::@Cons(%0, %1) : (!relay.var<"b">, !relay.adt<@List, [!relay.var<"b">]>) -> !relay.adt<@List, [!relay.var<"b">]>
    relay.yield %2 : !relay.adt<@List, [!relay.var<"b">]>
  }
  return %r : !relay.adt<@List, [!relay.var<"b">]>
}

// A recursion that only a run can end becomes a function of its own, for the function it is given; what that captured is a parameter.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[R:.*]] = relay.call @map$special$0(%arg1, %arg0)
// CHECK-NEXT:    return %[[R]]
// CHECK:       func.func private @map$special$0(%arg0: tensor<f32>, %arg1: !relay.adt<@List, [tensor<f32>]>)
// CHECK:           relay.mul %{{.*}}, %arg0
// CHECK-NEXT:      relay.call @map$special$0(%arg0, %{{.*}})
// CHECK-NOT:   func.func
func.func @main(%l: !relay.adt<@List, [tensor<f32>]>, %y: tensor<f32>) -> !relay.adt<@List, [tensor<f32>]> {
  %f = relay.fn {
  ^bb0(%a: tensor<f32>):
    %0 = relay.mul %a, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %1 = relay.call @map(%f, %l) : ((tensor<f32>) -> tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
  return %1 : !relay.adt<@List, [tensor<f32>]>
}

// -----

// What a cell holds is known until something else may write; writes stay, once and in order.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[R:.*]] = relay.ref.new %arg0
// CHECK-NEXT:    relay.ref.write %[[R]], %arg1
// CHECK-NEXT:    relay.apply %arg2(%[[R]])
// CHECK-NEXT:    %[[V:.*]] = relay.ref.read %[[R]]
// CHECK-NEXT:    %[[S:.*]] = relay.add %arg1, %[[V]]
// CHECK-NEXT:    return %[[S]]
func.func @main(%x: tensor<f32>, %y: tensor<f32>, %f: (!relay.ref<tensor<f32>>) -> tensor<f32>) -> tensor<f32> {
  %r = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<f32>>
  relay.ref.write %r, %y : !relay.ref<tensor<f32>>, tensor<f32>
  %0 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  %1 = relay.apply %f(%r) : (!relay.ref<tensor<f32>>) -> tensor<f32>, (!relay.ref<tensor<f32>>) -> tensor<f32>
  %2 = relay.ref.read %r : !relay.ref<tensor<f32>> -> tensor<f32>
  %3 = relay.add %0, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// Loops and branches over constants are run; the state that is not known is computed.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[A:.*]] = relay.add %arg0, %arg0
// CHECK-NEXT:    %[[B:.*]] = relay.add %[[A]], %[[A]]
// CHECK-NEXT:    return %[[B]]
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %two = relay.constant dense<2> : tensor<i32>
  %0:2 = relay.while (%two, %x) {
  ^bb0(%n: tensor<i32>, %s: tensor<f32>):
    %1 = relay.less %zero, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    relay.yield %1 : tensor<i1>
  } do {
  ^bb0(%n: tensor<i32>, %s: tensor<f32>):
    %1 = relay.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = relay.add %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %1, %2 : tensor<i32>, tensor<f32>
  } : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// A count that goes up without end under a condition that only a run knows: one copy for the start, one for all others.
// CHECK-LABEL: func.func private @up(
// CHECK:           relay.call @up(
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    relay.call @up$special$0(%arg0)
// CHECK-NEXT:    return
// CHECK-LABEL: func.func private @up$special$0(
// CHECK:           relay.call @up(
// CHECK-NOT:   func.func
func.func private @up(%n: tensor<i32>, %x: tensor<f32>) -> tensor<i32> {
  %one = relay.constant dense<1> : tensor<i32>
  %half = relay.constant dense<0.5> : tensor<f32>
  %c = relay.less %x, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = relay.if %c {
    relay.yield %n : tensor<i32>
  } else {
    %m = relay.add %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = relay.mul %x, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = relay.call @up(%m, %y) : (tensor<i32>, tensor<f32>) -> tensor<i32>
    relay.yield %s : tensor<i32>
  } : (tensor<i1>) -> tensor<i32>
  return %r : tensor<i32>
}
func.func @main(%x: tensor<f32>) -> tensor<i32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %0 = relay.call @up(%zero, %x) : (tensor<i32>, tensor<f32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    relay.exp %arg0
// CHECK-NEXT:    return
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
