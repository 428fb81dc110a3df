// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK: relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

// CHECK-LABEL: func.func @construct
// CHECK-NEXT:    %[[N:.*]] = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<f32>]>
// CHECK-NEXT:    relay.construct @List::@Cons(%arg0, %[[N]]) : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
func.func @construct(%x: tensor<f32>) {
  %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List, [tensor<f32>]>
  %1 = relay.construct @List::@Cons(%x, %0) : (tensor<f32>, !relay.adt<@List, [tensor<f32>]>) -> !relay.adt<@List, [tensor<f32>]>
  return
}

// CHECK-LABEL: func.func @match
// CHECK-NEXT:    relay.match %arg0 : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
// CHECK-NEXT:    case [@List::@Cons, "x", [@List::@Cons, "_", "rest"]] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<f32>, %{{.*}}: !relay.adt<@List, [tensor<f32>]>):
// CHECK-NEXT:      relay.yield %[[X]] : tensor<f32>
// CHECK-NEXT:    }
// CHECK-NEXT:    case "_" {
func.func @match(%l: !relay.adt<@List, [tensor<f32>]>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = relay.match %l : (!relay.adt<@List, [tensor<f32>]>) -> tensor<f32>
  case [@List::@Cons, "x", [@List::@Cons, "_", "rest"]] {
  ^bb0(%x: tensor<f32>, %rest: !relay.adt<@List, [tensor<f32>]>):
    relay.yield %x : tensor<f32>
  }
  case "_" {
    relay.yield %zero : tensor<f32>
  }
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @tuples
// CHECK:         case ["a", "_"] {
func.func @tuples(%t: tuple<tensor<f32>, tensor<i1>>) -> tensor<f32> {
  %0 = relay.match %t : (tuple<tensor<f32>, tensor<i1>>) -> tensor<f32>
  case ["a", "_"] {
  ^bb0(%a: tensor<f32>):
    relay.yield %a : tensor<f32>
  }
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @identity
func.func @identity(%x: !relay.var<"a">) -> !relay.var<"a"> attributes {relay.type_params = ["a"]} {
  return %x : !relay.var<"a">
}

// CHECK-LABEL: func.func @uses
// CHECK-NEXT:    relay.call @identity(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    relay.global @identity : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    %[[A:.*]] = relay.ascribe %arg0 : tensor<2xf32> -> !relay.hole
// CHECK-NEXT:    relay.relu %[[A]] : (!relay.hole) -> !relay.hole
func.func @uses(%x: tensor<2xf32>) {
  %0 = relay.call @identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.global @identity : (tensor<i1>) -> tensor<i1>
  %2 = relay.ascribe %x : tensor<2xf32> -> !relay.hole
  %3 = relay.relu %2 : (!relay.hole) -> !relay.hole
  return
}

// CHECK-LABEL: func.func @polymorphic_closure
// CHECK:         relay.instantiate %{{.*}} : (!relay.var<"b">) -> !relay.var<"b"> -> (tensor<i1>) -> tensor<i1>
func.func @polymorphic_closure(%x: tensor<2xf32>) {
  %f = relay.fn {
  ^bb0(%a: !relay.var<"b">):
    relay.yield %a : !relay.var<"b">
  } : (!relay.var<"b">) -> !relay.var<"b">
  %0 = relay.apply %f(%x) : (!relay.var<"b">) -> !relay.var<"b">, (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.instantiate %f : (!relay.var<"b">) -> !relay.var<"b"> -> (tensor<i1>) -> tensor<i1>
  return
}
