// RUN: fusion-opt %s --relay-infer-types --verify-diagnostics --split-input-file

func.func @relation(%x: tensor<2xf32>, %y: tensor<3xf32>) -> !relay.hole {
  %0 = relay.neg %x : (tensor<2xf32>) -> !relay.hole
  // expected-error @+1 {{'relay.add' op violates constraint C2: shapes do not broadcast: tensor<2xf32>, tensor<3xf32>}}
  %1 = relay.add %0, %y : (!relay.hole, tensor<3xf32>) -> !relay.hole
  return %1 : !relay.hole
}

// -----

func.func @operand(%x: tensor<2xf32>) -> !relay.hole {
  %0 = relay.tuple %x : (tensor<2xf32>) -> !relay.hole
  // expected-error @+1 {{'relay.neg' op operand 0 must be a tensor, found tuple<tensor<2xf32>>}}
  %1 = relay.neg %0 : (!relay.hole) -> !relay.hole
  return %1 : !relay.hole
}

// -----

func.func private @takes(tensor<2xf32>) -> tensor<2xf32>
func.func @argument(%x: tensor<2xi1>) -> !relay.hole {
  %0 = relay.tuple %x : (tensor<2xi1>) -> !relay.hole
  %1 = relay.get %0[0] : !relay.hole -> !relay.hole
  // expected-error @+1 {{'relay.call' op argument 0 must be tensor<2xf32>, found tensor<2xi1>}}
  %2 = relay.call @takes(%1) : (!relay.hole) -> !relay.hole
  return %2 : !relay.hole
}

// -----

func.func private @same(tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
func.func @named_extents(%x: tensor<2xf32>, %y: tensor<3xf32>) -> !relay.hole {
  %0 = relay.neg %y : (tensor<3xf32>) -> !relay.hole
  // expected-error @+1 {{'relay.call' op argument 1 must be tensor<2xf32>, found tensor<3xf32>; the extents 3 and 2 differ}}
  %1 = relay.call @same(%x, %0) : (tensor<2xf32>, !relay.hole) -> !relay.hole
  return %1 : !relay.hole
}

// -----

func.func @rigid_extent(%x: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<5xf32> {
  %0 = relay.neg %x : (tensor<?xf32, #relay.dims<["n"]>>) -> !relay.hole
  // expected-error @+1 {{'relay.ascribe' op the annotated value must be tensor<5xf32>, found tensor<nxf32>; the extents n and 5 differ: a named extent stands for every number; write ? to have it compared at run time}}
  %1 = relay.ascribe %0 : !relay.hole -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

func.func @rigid(%x: !relay.var<"a">) -> tensor<f32> attributes {relay.type_params = ["a"]} {
  %0 = relay.tuple %x : (!relay.var<"a">) -> !relay.hole
  %1 = relay.get %0[0] : !relay.hole -> !relay.hole
  // expected-error @+1 {{'relay.ascribe' op the annotated value must be tensor<f32>, found !relay.var<"a">; the function is declared for every "a", so nothing may be supposed of it}}
  %2 = relay.ascribe %1 : !relay.hole -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

func.func @branches(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> !relay.hole {
  %0 = relay.if %c {
    relay.yield %x : tensor<2xf32>
  } else {
    // expected-error @+1 {{'relay.yield' op value 0 that region 1 yields must be tensor<2xf32>, found tensor<3xf32>; the extents 3 and 2 differ: write ? where the extent may vary}}
    relay.yield %y : tensor<3xf32>
  } : (tensor<i1>) -> !relay.hole
  return %0 : !relay.hole
}

// -----

func.func @infinite(%f: !relay.hole) -> !relay.hole {
  // expected-error @+1 {{'relay.apply' op argument 0 must be 'a, found ('a) -> 'b: an infinite type, as 'a would have to be ('a) -> 'b}}
  %0 = relay.apply %f(%f) : !relay.hole, (!relay.hole) -> !relay.hole
  return %0 : !relay.hole
}

// -----

func.func @arity(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> !relay.hole {
  %g = relay.ascribe %f : (tensor<f32>) -> tensor<f32> -> !relay.hole
  // expected-error @+1 {{'relay.apply' op passes 2 arguments to (tensor<f32>) -> tensor<f32>, which takes 1}}
  %0 = relay.apply %g(%x, %x) : !relay.hole, (tensor<f32>, tensor<f32>) -> !relay.hole
  return %0 : !relay.hole
}

// -----

func.func @no_function(%x: !relay.hole) -> !relay.hole {
  %0 = relay.tuple %x : (!relay.hole) -> !relay.hole
  // expected-error @+1 {{'relay.apply' op calls a value that is no function but tuple<'a>}}
  %1 = relay.apply %0(%x) : !relay.hole, (!relay.hole) -> !relay.hole
  return %1 : !relay.hole
}

// -----

// expected-error @+1 {{'func.func' op has a type that is not determined: argument 0 of @not_determined is 'a; write the type of the parameter}}
func.func @not_determined(%x: !relay.hole) -> !relay.hole {
  %0 = relay.neg %x : (!relay.hole) -> !relay.hole
  return %0 : !relay.hole
}

// -----

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
func.func private @length(!relay.adt<@List, [!relay.var<"a">]>) -> tensor<i32>
func.func @ambiguous() -> !relay.hole {
  // expected-error @+1 {{'relay.construct' op has a type that is not determined: result 0 is !relay.adt<@List, ['a]>; annotate the value, with relay.ascribe to its type}}
  %0 = relay.construct @List::@Nil() : () -> !relay.hole
  %1 = relay.call @length(%0) : (!relay.hole) -> !relay.hole
  return %1 : !relay.hole
}

// -----

// expected-error @+1 {{'func.func' op has a type that is not determined: argument 0 of @tuple_unknown is 'a; write the type of the parameter}}
func.func @tuple_unknown(%x: !relay.hole) -> !relay.hole {
  %0 = relay.get %x[0] : !relay.hole -> !relay.hole
  return %0 : !relay.hole
}

// -----

func.func @index(%x: tensor<f32>) -> !relay.hole {
  %0 = relay.tuple %x : (tensor<f32>) -> !relay.hole
  // expected-error @+1 {{'relay.get' op violates constraint C1: index 1 is out of range for tuple<tensor<f32>>}}
  %1 = relay.get %0[1] : !relay.hole -> !relay.hole
  return %1 : !relay.hole
}

// -----

relay.data @Box ["a"] [#relay.constructor<"Box", [!relay.var<"a">]>]
func.func @pattern(%x: tensor<f32>) -> !relay.hole {
  %0 = relay.neg %x : (tensor<f32>) -> !relay.hole
  // expected-error @+1 {{'relay.match' op violates constraint C2: the constructor @Box::@Box cannot make a value of type tensor<f32>}}
  %1 = relay.match %0 : (!relay.hole) -> !relay.hole
  case [@Box::@Box, "y"] {
  ^bb0(%y: !relay.hole):
    relay.yield %y : !relay.hole
  }
  return %1 : !relay.hole
}

// -----

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
func.func @mixed(%x: tensor<f32>, %y: tensor<i1>) -> !relay.hole {
  %0 = relay.construct @List::@Nil() : () -> !relay.hole
  %1 = relay.construct @List::@Cons(%x, %0) : (tensor<f32>, !relay.hole) -> !relay.hole
  // expected-error @+1 {{'relay.construct' op field 1 must be !relay.adt<@List, [tensor<i1>]>, found !relay.adt<@List, [tensor<f32>]>; tensor<f32> is not tensor<i1>}}
  %2 = relay.construct @List::@Cons(%y, %1) : (tensor<i1>, !relay.hole) -> !relay.hole
  return %2 : !relay.hole
}

// -----

relay.data @List ["a"] [#relay.constructor<"Nil">, #relay.constructor<"Cons", [!relay.var<"a">, !relay.adt<@List, [!relay.var<"a">]>]>]
func.func @both_ways_f() -> tensor<i1> {
  // expected-error @+1 {{'relay.construct' op has a type that is not determined: result 0 is !relay.adt<@List, ['a]>}}
  %0 = relay.construct @List::@Nil() : () -> !relay.hole
  %1 = relay.call @both_ways_g(%0) : (!relay.hole) -> !relay.hole
  %2 = relay.call @both_ways_f() : () -> tensor<i1>
  return %2 : tensor<i1>
}
func.func @both_ways_g(%x: !relay.hole) -> !relay.hole {
  %0 = relay.call @both_ways_f() : () -> !relay.hole
  return %x : !relay.hole
}
