// RUN: fusion-opt %s --relay-infer-types --relay-monomorphise | FileCheck %s
// RUN: fusion-opt %s --relay-infer-types --relay-monomorphise --relay-infer-types --relay-monomorphise | FileCheck %s
// RUN: fusion-opt %s --relay-infer-types --relay-monomorphise | FileCheck %s --check-prefix=NONE

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]

// After the declaration no type variable is left.
// NONE: relay.data {{.*}}
// NONE-NOT: relay.var
// NONE-NOT: relay.instantiate
// NONE-NOT: relay.type_params

// Two instances, each calling itself; the third call chooses as the first does.
// CHECK-NOT:   func.func @map(
// CHECK-DAG:   func.func private @map$1(%arg0: (tensor<3xf32>) -> tensor<3xf32>, %arg1: !relay.adt<@List, [tensor<3xf32>]>) -> !relay.adt<@List, [tensor<3xf32>]>
// CHECK-DAG:     relay.call @map$1(
// CHECK-DAG:   func.func private @map$2(%arg0: (tensor<3xf32>) -> tensor<i1>, %arg1: !relay.adt<@List, [tensor<3xf32>]>) -> !relay.adt<@List, [tensor<i1>]>
// CHECK-DAG:     relay.call @map$2(
func.func @map(%f: !relay.hole, %l: !relay.hole) -> !relay.hole {
  %0 = relay.match %l : (!relay.hole) -> !relay.hole
  case [@List::@Nil] {
    %1 = relay.construct @List::@Nil() : () -> !relay.hole
    relay.yield %1 : !relay.hole
  }
  case [@List::@Cons, "x", "rest"] {
  ^bb0(%x: !relay.hole, %rest: !relay.hole):
    %1 = relay.apply %f(%x) : !relay.hole, (!relay.hole) -> !relay.hole
    %2 = relay.call @map(%f, %rest) : (!relay.hole, !relay.hole) -> !relay.hole
    %3 = relay.construct @List::@Cons(%1, %2) : (!relay.hole, !relay.hole) -> !relay.hole
    relay.yield %3 : !relay.hole
  }
  return %0 : !relay.hole
}
// CHECK-LABEL: func.func @main(
// CHECK:         relay.call @map$1(
// CHECK:         relay.call @map$2(
// CHECK:         relay.call @map$1(
func.func @main(%l: !relay.adt<@List, [tensor<3xf32>]>, %b: tensor<i1>) -> !relay.hole {
  %f = relay.fn {
  ^bb0(%x: !relay.hole):
    %0 = relay.relu %x : (!relay.hole) -> !relay.hole
    relay.yield %0 : !relay.hole
  } : !relay.hole
  %g = relay.fn {
  ^bb0(%x: !relay.hole):
    relay.yield %b : tensor<i1>
  } : !relay.hole
  %0 = relay.call @map(%f, %l) : (!relay.hole, !relay.adt<@List, [tensor<3xf32>]>) -> !relay.hole
  %1 = relay.call @map(%g, %0) : (!relay.hole, !relay.hole) -> !relay.hole
  %2 = relay.call @map(%f, %0) : (!relay.hole, !relay.hole) -> !relay.hole
  %3 = relay.tuple %1, %2 : (!relay.hole, !relay.hole) -> !relay.hole
  return %3 : !relay.hole
}

// Known extents are chosen, unknown ones stay: @square itself is for them.
// CHECK-LABEL: func.func @square(%arg0: tensor<?xf32, #relay.dims<["n"]>>
// CHECK-LABEL: func.func private @square$1(%arg0: tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT:    relay.mul %arg0, %arg0 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
func.func @square(%x: tensor<?xf32, #relay.dims<["n"]>>) -> !relay.hole {
  %0 = relay.mul %x, %x : (tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>) -> !relay.hole
  return %0 : !relay.hole
}
// CHECK-LABEL: func.func @extents
// CHECK-NEXT:    relay.call @square$1(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT:    relay.call @square(%arg1) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    relay.global @square$1 : (tensor<5xf32>) -> tensor<5xf32>
func.func @extents(%x: tensor<5xf32>, %y: tensor<?xf32>) -> !relay.hole {
  %0 = relay.call @square(%x) : (tensor<5xf32>) -> !relay.hole
  %1 = relay.call @square(%y) : (tensor<?xf32>) -> !relay.hole
  %2 = relay.global @square : !relay.hole
  %3 = relay.apply %2(%x) : !relay.hole, (tensor<5xf32>) -> !relay.hole
  %4 = relay.tuple %0, %1, %3 : (!relay.hole, !relay.hole, !relay.hole) -> !relay.hole
  return %4 : !relay.hole
}

// A polymorphic closure in the body of another: the outer one is copied first.
// CHECK-LABEL: func.func @closures
// CHECK:         %[[T:.*]] = relay.fn {
// CHECK:         } : (tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
// CHECK:         %[[B:.*]] = relay.fn {
// CHECK:         } : (tensor<i1>) -> tuple<tensor<i1>, tensor<i1>>
// CHECK:         relay.fn {
// CHECK:           relay.apply %[[T]](
// CHECK:         relay.fn {
// CHECK:           relay.apply %[[B]](
// CHECK:         return
func.func @closures(%x: tensor<3xf32>, %y: tensor<i1>) -> !relay.hole {
  %twice = relay.fn {
  ^bb0(%a: !relay.hole):
    %0 = relay.tuple %a, %a : (!relay.hole, !relay.hole) -> !relay.hole
    relay.yield %0 : !relay.hole
  } : !relay.hole
  %g = relay.fn {
  ^bb0(%a: !relay.hole):
    %0 = relay.apply %twice(%a) : !relay.hole, (!relay.hole) -> !relay.hole
    relay.yield %0 : !relay.hole
  } : !relay.hole
  %0 = relay.apply %g(%x) : !relay.hole, (tensor<3xf32>) -> !relay.hole
  %1 = relay.apply %g(%y) : !relay.hole, (tensor<i1>) -> !relay.hole
  %2 = relay.apply %twice(%x) : !relay.hole, (tensor<3xf32>) -> !relay.hole
  %3 = relay.tuple %0, %1, %2 : (!relay.hole, !relay.hole, !relay.hole) -> !relay.hole
  return %3 : !relay.hole
}

// What is known of both uses of a type variable.
// CHECK-LABEL: func.func private @pair$1(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>)
func.func @pair(%x: !relay.var<"a">, %y: !relay.var<"a">) -> !relay.hole attributes {relay.type_params = ["a"]} {
  %0 = relay.tuple %x, %y : (!relay.var<"a">, !relay.var<"a">) -> !relay.hole
  return %0 : !relay.hole
}
func.func @joined(%x: tensor<5xf32>, %y: tensor<?xf32>) -> !relay.hole {
  %0 = relay.call @pair(%x, %y) : (tensor<5xf32>, tensor<?xf32>) -> !relay.hole
  return %0 : !relay.hole
}
