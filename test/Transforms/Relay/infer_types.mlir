// RUN: fusion-opt %s --relay-infer-types | FileCheck %s
// RUN: fusion-opt %s --relay-infer-types --relay-infer-types | FileCheck %s

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
relay.data @Option ["a"] [#relay.constructor<"None">, #relay.constructor<"Some", [!relay.var<"a">]>]

// Operators: relations in a row; a named extent stays one.
// CHECK-LABEL: func.func @operators(%arg0: tensor<?x10xf32, #relay.dims<["n", ""]>>, %arg1: tensor<20x10xf32>) -> tensor<?x20xf32, #relay.dims<["n", ""]>>
// CHECK-NEXT:    relay.dense %arg0, %arg1 : (tensor<?x10xf32, #relay.dims<["n", ""]>>, tensor<20x10xf32>) -> tensor<?x20xf32, #relay.dims<["n", ""]>>
// CHECK-NEXT:    relay.relu %{{.*}} : (tensor<?x20xf32, #relay.dims<["n", ""]>>) -> tensor<?x20xf32, #relay.dims<["n", ""]>>
func.func @operators(%x: tensor<?x10xf32, #relay.dims<["n", ""]>>, %w: tensor<20x10xf32>) -> !relay.hole {
  %0 = relay.dense %x, %w : (tensor<?x10xf32, #relay.dims<["n", ""]>>, tensor<20x10xf32>) -> !relay.hole
  %1 = relay.relu %0 : (!relay.hole) -> !relay.hole
  return %1 : !relay.hole
}

// A function without annotations is polymorphic.
// CHECK-LABEL: func.func @swap(%arg0: !relay.var<"a">, %arg1: !relay.var<"b">) -> tuple<!relay.var<"b">, !relay.var<"a">> attributes {relay.type_params = ["a", "b"]}
func.func @swap(%x: !relay.hole, %y: !relay.hole) -> !relay.hole {
  %0 = relay.tuple %y, %x : (!relay.hole, !relay.hole) -> !relay.hole
  return %0 : !relay.hole
}

// Functions that call each other, before and behind; called at two types.
// CHECK-LABEL: func.func @calls
// CHECK:         relay.call @swap(%arg0, %arg1) : (tensor<4xf32>, tensor<i1>) -> tuple<tensor<i1>, tensor<4xf32>>
// CHECK:         relay.get %{{.*}}[0] : tuple<tensor<i1>, tensor<4xf32>> -> tensor<i1>
// CHECK:         relay.call @swap(%{{.*}}, %{{.*}}) : (tensor<i1>, tensor<i1>) -> tuple<tensor<i1>, tensor<i1>>
func.func @calls(%x: tensor<4xf32>, %y: tensor<i1>) -> tuple<tensor<i1>, tensor<i1>> {
  %0 = relay.call @swap(%x, %y) : (tensor<4xf32>, tensor<i1>) -> !relay.hole
  %1 = relay.get %0[0] : !relay.hole -> !relay.hole
  %2 = relay.call @swap(%1, %y) : (!relay.hole, tensor<i1>) -> !relay.hole
  %3 = relay.ascribe %2 : !relay.hole -> tuple<tensor<i1>, tensor<i1>>
  return %3 : tuple<tensor<i1>, tensor<i1>>
}

// map, by recursion and match: what it takes and gives follows.
// CHECK-LABEL: func.func @map(%arg0: (!relay.var<"a">) -> !relay.var<"b">, %arg1: !relay.adt<@List, [!relay.var<"a">]>) -> !relay.adt<@List, [!relay.var<"b">]> attributes {relay.type_params = ["a", "b"]}
// CHECK:         ^bb0(%{{.*}}: !relay.var<"a">, %{{.*}}: !relay.adt<@List, [!relay.var<"a">]>):
// CHECK-NEXT:      relay.apply %arg0(%{{.*}}) : (!relay.var<"a">) -> !relay.var<"b">, (!relay.var<"a">) -> !relay.var<"b">
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

// The parameter of a closure follows from where the closure goes.
// CHECK-LABEL: func.func @uses_map
// CHECK:         relay.fn {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<3xf32>):
// CHECK-NEXT:      relay.relu %{{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK:         } : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    relay.call @map(%{{.*}}, %arg0) : ((tensor<3xf32>) -> tensor<3xf32>, !relay.adt<@List, [tensor<3xf32>]>) -> !relay.adt<@List, [tensor<3xf32>]>
func.func @uses_map(%l: !relay.adt<@List, [tensor<3xf32>]>) -> !relay.hole {
  %f = relay.fn {
  ^bb0(%x: !relay.hole):
    %0 = relay.relu %x : (!relay.hole) -> !relay.hole
    relay.yield %0 : !relay.hole
  } : !relay.hole
  %0 = relay.call @map(%f, %l) : (!relay.hole, !relay.adt<@List, [tensor<3xf32>]>) -> !relay.hole
  return %0 : !relay.hole
}

// A closure that is used at two types is polymorphic; as an argument it is given one of them.
// CHECK-LABEL: func.func @let_polymorphism
// CHECK:         %[[F:.*]] = relay.fn {
// CHECK-NEXT:    ^bb0(%{{.*}}: !relay.var<"a">):
// CHECK:         } : (!relay.var<"a">) -> !relay.var<"a">
// CHECK-NEXT:    relay.apply %[[F]](%arg0) : (!relay.var<"a">) -> !relay.var<"a">, (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    relay.apply %[[F]](%arg1) : (!relay.var<"a">) -> !relay.var<"a">, (tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    %[[I:.*]] = relay.instantiate %[[F]] : (!relay.var<"a">) -> !relay.var<"a"> -> (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    relay.call @map(%[[I]], %arg2)
func.func @let_polymorphism(%x: tensor<3xf32>, %y: tensor<i1>, %l: !relay.adt<@List, [tensor<3xf32>]>) -> !relay.hole {
  %f = relay.fn {
  ^bb0(%a: !relay.hole):
    relay.yield %a : !relay.hole
  } : !relay.hole
  %0 = relay.apply %f(%x) : !relay.hole, (tensor<3xf32>) -> !relay.hole
  %1 = relay.apply %f(%y) : !relay.hole, (tensor<i1>) -> !relay.hole
  %2 = relay.call @map(%f, %l) : (!relay.hole, !relay.adt<@List, [tensor<3xf32>]>) -> !relay.hole
  %3 = relay.tuple %0, %1, %2 : (!relay.hole, !relay.hole, !relay.hole) -> !relay.hole
  return %3 : !relay.hole
}

// A named extent is chosen for each call; a polymorphic function of extents is checked once.
// CHECK-LABEL: func.func @square
// CHECK:         relay.mul %arg0, %arg0 : (tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
func.func @square(%x: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>> {
  %0 = relay.mul %x, %x : (tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>) -> !relay.hole
  %1 = relay.ascribe %0 : !relay.hole -> tensor<?xf32, #relay.dims<["n"]>>
  return %1 : tensor<?xf32, #relay.dims<["n"]>>
}
// CHECK-LABEL: func.func @extents
// CHECK:         relay.call @square(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
// CHECK:         relay.call @square(%arg1) : (tensor<?xf32>) -> tensor<?xf32>
func.func @extents(%x: tensor<5xf32>, %y: tensor<?xf32>) -> !relay.hole {
  %0 = relay.call @square(%x) : (tensor<5xf32>) -> !relay.hole
  %1 = relay.call @square(%y) : (tensor<?xf32>) -> !relay.hole
  %2 = relay.tuple %0, %1 : (!relay.hole, !relay.hole) -> !relay.hole
  return %2 : !relay.hole
}

// Branches of 5 and of ? give ?; each keeps what is known of it.
// CHECK-LABEL: func.func @gradual
// CHECK:         relay.neg %arg1 : (tensor<5xf32>) -> tensor<5xf32>
// CHECK:         } : (tensor<i1>) -> tensor<?xf32>
// CHECK:         relay.exp %{{.*}} : (tensor<?xf32>) -> tensor<?xf32>
func.func @gradual(%c: tensor<i1>, %x: tensor<5xf32>, %y: tensor<?xf32>) -> !relay.hole {
  %0 = relay.if %c {
    %1 = relay.neg %x : (tensor<5xf32>) -> !relay.hole
    relay.yield %1 : !relay.hole
  } else {
    relay.yield %y : tensor<?xf32>
  } : (tensor<i1>) -> !relay.hole
  %2 = relay.exp %0 : (!relay.hole) -> !relay.hole
  return %2 : !relay.hole
}

// An annotation that says less stays: it is where what is known is given up.
// CHECK-LABEL: func.func @widened
// CHECK-NEXT:    %[[W:.*]] = relay.ascribe %arg0 : tensor<5xf32> -> tensor<?xf32>
// CHECK-NEXT:    relay.while(%[[W]])
// CHECK:           relay.concat %{{.*}}, %arg0 {axis = 0 : i64} : (tensor<?xf32>, tensor<5xf32>) -> tensor<?xf32>
func.func @widened(%x: tensor<5xf32>, %c: tensor<i1>) -> !relay.hole {
  %0 = relay.ascribe %x : tensor<5xf32> -> tensor<?xf32>
  %1 = relay.while (%0) {
  ^bb0(%s: !relay.hole):
    relay.yield %c : tensor<i1>
  } do {
  ^bb0(%s: !relay.hole):
    %2 = relay.concat %s, %x {axis = 0} : (!relay.hole, tensor<5xf32>) -> !relay.hole
    relay.yield %2 : !relay.hole
  } : (tensor<?xf32>) -> !relay.hole
  return %1 : !relay.hole
}

// Cells, and a closure that calls itself.
// CHECK-LABEL: func.func @cells
// CHECK:         relay.ref.new %arg0 : tensor<f32> -> !relay.ref<tensor<f32>>
// CHECK:         relay.fn attributes {relay.recursive} {
// CHECK-NEXT:    ^bb0(%{{.*}}: (tensor<f32>) -> tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK:         } : (tensor<f32>) -> tensor<f32>
func.func @cells(%x: tensor<f32>) -> !relay.hole {
  %r = relay.ref.new %x : tensor<f32> -> !relay.hole
  %f = relay.fn attributes {relay.recursive} {
  ^bb0(%self: !relay.hole, %a: !relay.hole):
    %1 = relay.apply %self(%a) : !relay.hole, (!relay.hole) -> !relay.hole
    %2 = relay.add %1, %a : (!relay.hole, !relay.hole) -> !relay.hole
    relay.ref.write %r, %2 : !relay.hole, !relay.hole
    relay.yield %2 : !relay.hole
  } : !relay.hole
  %0 = relay.apply %f(%x) : !relay.hole, (tensor<f32>) -> !relay.hole
  %3 = relay.ref.read %r : !relay.hole -> !relay.hole
  return %3 : !relay.hole
}

// An operator of an unknown operand: the function takes what its caller passes.
// CHECK-LABEL: func.func @later(%arg0: tensor<7xf32>) -> tensor<7xf32>
func.func @later(%x: !relay.hole) -> !relay.hole {
  %0 = relay.tanh %x : (!relay.hole) -> !relay.hole
  return %0 : !relay.hole
}
// CHECK-LABEL: func.func @calls_later
// CHECK:         relay.call @later(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
func.func @calls_later(%x: tensor<7xf32>) -> !relay.hole {
  %0 = relay.call @later(%x) : (tensor<7xf32>) -> !relay.hole
  return %0 : !relay.hole
}

// Functions as values.
// CHECK-LABEL: func.func @globals
// CHECK:         relay.global @square : (tensor<2xf32>) -> tensor<2xf32>
func.func @globals(%x: tensor<2xf32>) -> !relay.hole {
  %f = relay.global @square : !relay.hole
  %0 = relay.apply %f(%x) : !relay.hole, (tensor<2xf32>) -> !relay.hole
  return %0 : !relay.hole
}

// An extent that only the caller knows becomes the function's own.
// CHECK-LABEL: func.func @passes_on(%arg0: tensor<?xf32, #relay.dims<["n0"]>>) -> tensor<?xf32, #relay.dims<["n0"]>>
func.func @passes_on(%x: !relay.hole) -> !relay.hole {
  %0 = relay.call @square(%x) : (!relay.hole) -> !relay.hole
  return %0 : !relay.hole
}

// CHECK-LABEL: func.func @patterns(%arg0: !relay.adt<@Option, [tuple<tensor<2xi1>, tensor<3xf32>>]>, %arg1: tensor<3xf32>) -> tensor<3xf32>
func.func @patterns(%o: !relay.adt<@Option, [tuple<tensor<2xi1>, tensor<3xf32>>]>, %d: tensor<3xf32>) -> !relay.hole {
  %0 = relay.match %o : (!relay.adt<@Option, [tuple<tensor<2xi1>, tensor<3xf32>>]>) -> !relay.hole
  case [@Option::@Some, ["_", "y"]] {
  ^bb0(%y: !relay.hole):
    relay.yield %y : !relay.hole
  }
  case "_" { relay.yield %d : tensor<3xf32> }
  return %0 : !relay.hole
}
