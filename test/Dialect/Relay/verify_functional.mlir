// RUN: fusion-opt %s --verify-diagnostics --split-input-file

func.func @tuple_type(%x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.tuple' op the tuple's type must be}}
  %0 = relay.tuple %x : (tensor<2xf32>) -> tuple<tensor<3xf32>>
  return
}

// -----

func.func @get_c1_index(%x: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{'relay.get' op violates constraint C1: index 1 is out of range}}
  %0 = relay.get %x[1] : tuple<tensor<2xf32>> -> tensor<2xf32>
  return
}

// -----

func.func @if_condition(%c: tensor<2xi1>, %x: tensor<f32>) {
  // expected-error @+1 {{'relay.if' op the condition must be one tensor<i1>, found tensor<2xi1>}}
  %0 = relay.if %c { relay.yield %x : tensor<f32> } else { relay.yield %x : tensor<f32> } : (tensor<2xi1>) -> tensor<f32>
  return
}

// -----

func.func @if_yields(%c: tensor<i1>, %x: tensor<f32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'relay.if' op what the second region yields must be (tensor<f32>), found (tensor<2xf32>)}}
  %0 = relay.if %c { relay.yield %x : tensor<f32> } else { relay.yield %y : tensor<2xf32> } : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @while_condition(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.while' op what the condition region yields must be one tensor<i1>, found tensor<f32>}}
  %0 = relay.while (%x) {
  ^bb0(%s: tensor<f32>):
    relay.yield %s : tensor<f32>
  } do {
  ^bb0(%s: tensor<f32>):
    relay.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @fn_yields(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.fn' op what the body yields must be (tensor<2xf32>), found (tensor<f32>)}}
  %f = relay.fn {
    relay.yield %x : tensor<f32>
  } : () -> tensor<2xf32>
  return
}

// -----

func.func @apply_arguments(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<2xf32>) {
  // expected-error @+1 {{'relay.apply' op the arguments must be (tensor<f32>), found (tensor<2xf32>)}}
  %0 = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>, (tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @call_c1(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.call' op violates constraint C1: the module has no function @missing}}
  relay.call @missing(%x) : (tensor<f32>) -> ()
  return
}

// -----

func.func private @pair(!relay.var<"a">, !relay.var<"a">)
func.func @call_c2(%x: tensor<f32>, %y: tensor<i1>) {
  // expected-error @+1 {{'relay.call' op violates constraint C2: the call's type, of @pair, must be an instance of}}
  relay.call @pair(%x, %y) : (tensor<f32>, tensor<i1>) -> ()
  return
}

// -----

func.func private @one(tensor<f32>) -> tensor<f32>
func.func @global_c2() {
  // expected-error @+1 {{'relay.global' op violates constraint C2: the value's type, of @one, must be an instance of}}
  %0 = relay.global @one : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @instantiate_c1(%f: (!relay.var<"a">) -> !relay.var<"a">) {
  // expected-error @+1 {{'relay.instantiate' op violates constraint C1: the result must be an instance of}}
  %0 = relay.instantiate %f : (!relay.var<"a">) -> !relay.var<"a"> -> (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @ascribe_c1(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.ascribe' op violates constraint C1: the type must be (tensor<f32>), found (tensor<i1>)}}
  %0 = relay.ascribe %x : tensor<f32> -> tensor<i1>
  return
}

// -----

func.func @ref_type(%x: tensor<f32>) {
  // expected-error @+1 {{'relay.ref.new' op the cell's type must be (!relay.ref<tensor<f32>>), found (!relay.ref<tensor<i1>>)}}
  %0 = relay.ref.new %x : tensor<f32> -> !relay.ref<tensor<i1>>
  return
}
