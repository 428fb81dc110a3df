// RUN: fusion-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{'relay.data' op violates constraint C1: the constructor "A" is there twice}}
relay.data @T [] [#relay.constructor<"A">, #relay.constructor<"A">]

// -----

// expected-error @+1 {{'relay.data' op violates constraint C2: a field of @A has the type variable "b", which is no parameter of @T}}
relay.data @T ["a"] [#relay.constructor<"A", [!relay.var<"b">]>]

// -----

func.func @unknown_type() {
  // expected-error @+1 {{'relay.construct' op violates constraint C1: the module declares no data type @List}}
  %0 = relay.construct @List::@Nil() : () -> !relay.adt<@List>
  return
}

// -----

relay.data @T [] [#relay.constructor<"A">, #relay.constructor<"B">]
func.func @unknown_constructor() {
  // expected-error @+1 {{'relay.construct' op violates constraint C1: the data type @T has no constructor @C; it has A, B}}
  %0 = relay.construct @T::@C() : () -> !relay.adt<@T>
  return
}

// -----

relay.data @Box ["a"] [#relay.constructor<"Box", [!relay.var<"a">]>]
func.func @fields() {
  // expected-error @+1 {{'relay.construct' op violates constraint C2: @Box takes 1 fields, found 0}}
  %0 = relay.construct @Box::@Box() : () -> !relay.adt<@Box, [tensor<f32>]>
  return
}

// -----

relay.data @Box ["a"] [#relay.constructor<"Box", [!relay.var<"a">]>]
func.func @field_type(%x: tensor<i1>) {
  // expected-error @+1 {{'relay.construct' op violates constraint C3: @Box makes !relay.adt<@Box, [!relay.var<"a">]> of (!relay.var<"a">), found !relay.adt<@Box, [tensor<f32>]> of (tensor<i1>)}}
  %0 = relay.construct @Box::@Box(%x) : (tensor<i1>) -> !relay.adt<@Box, [tensor<f32>]>
  return
}

// -----

func.func @no_clause(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.match' op violates constraint C1: there are 0 patterns and 0 regions}}
  relay.match %x : (tensor<f32>) -> ()
  return
}

// -----

relay.data @Box ["a"] [#relay.constructor<"Box", [!relay.var<"a">]>]
func.func @pattern_type(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.match' op violates constraint C2: the constructor @Box::@Box cannot make a value of type tensor<f32>}}
  relay.match %x : (tensor<f32>) -> ()
  case [@Box::@Box, "_"] { relay.yield }
  return
}

// -----

relay.data @Box ["a"] [#relay.constructor<"Box", [!relay.var<"a">]>]
func.func @pattern_fields(%x: !relay.adt<@Box, [tensor<f32>]>) {
  // expected-error @+1 {{'relay.match' op violates constraint C2: the pattern of @Box::@Box has 2 fields, the constructor 1}}
  relay.match %x : (!relay.adt<@Box, [tensor<f32>]>) -> ()
  case [@Box::@Box, "_", "_"] { relay.yield }
  return
}

// -----

func.func @no_pattern(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.match' op violates constraint C2: 1 : i64 is no pattern; patterns are "_", names and lists}}
  relay.match %x : (tensor<f32>) -> ()
  case 1 { relay.yield }
  return
}

// -----

func.func @bound(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.match' op violates constraint C3: what clause 0 takes must be (tensor<f32>), found ()}}
  relay.match %x : (tensor<f32>) -> ()
  case "y" { relay.yield }
  return
}

// -----

func.func @yields(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'relay.match' op violates constraint C4: what clause 0 yields must be (tensor<f32>), found ()}}
  %0 = relay.match %x : (tensor<f32>) -> tensor<f32>
  case "_" { relay.yield }
  return %0 : tensor<f32>
}
