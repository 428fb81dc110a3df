// RUN: fusion-opt %s --verify-diagnostics --split-input-file

te.kernel @c1_extents(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op violates constraint C1: an axis has the extent -4}}
  %0 = te.compute axes [-4] reduce [] init [] {
  ^bb0(%i: index):
    %1 = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}

// -----

te.kernel @c2_result_shape(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{'te.compute' op violates constraint C2: the result is tensor<5xf32>, the parallel axes have the extents [4]}}
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %1 = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<5xf32>
  te.return %0 : tensor<5xf32>
}

// -----

te.kernel @c3_indices(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op violates constraint C3: the body takes 1 indices, one an axis}}
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %1 = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}

// -----

te.kernel @c3_yield(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{'te.compute' op violates constraint C3: the body must yield (f64), found (f32)}}
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index):
    %1 = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<4xf64>
  te.return %0 : tensor<4xf64>
}

// -----

te.kernel @c4_neutral_element(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{'te.compute' op violates constraint C4: 0 neutral elements for 1 results}}
  %0 = te.compute axes [] reduce [4] init [] {
  ^bb0(%i: index):
    %1 = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %1 : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    te.yield %1 : f32
  } : tensor<f32>
  te.return %0 : tensor<f32>
}

// -----

te.kernel @c4_combiner(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{'te.compute' op violates constraint C4: reduction axes need a combiner}}
  %0 = te.compute axes [] reduce [4] init [0.0 : f32] {
  ^bb0(%i: index):
    %1 = te.load %x[%i] : tensor<4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<f32>
  te.return %0 : tensor<f32>
}

// -----

te.kernel @load_c1_indices(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index):
    // expected-error @+1 {{'te.load' op violates constraint C1: 1 indices for tensor<4x4xf32>}}
    %1 = te.load %x[%i] : tensor<4x4xf32> -> f32
    te.yield %1 : f32
  } combine {} : tensor<4xf32>
  te.return %0 : tensor<4xf32>
}

// -----

te.kernel @load_c2_element(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = te.compute axes [4] reduce [] init [] {
  ^bb0(%i: index):
    // expected-error @+1 {{'te.load' op violates constraint C2: an element of tensor<4xui8> is i8, found ui8}}
    %1 = te.load %x[%i] : tensor<4xui8> -> ui8
    %2 = arith.constant 0 : i8
    te.yield %2 : i8
  } combine {} : tensor<4xui8>
  te.return %0 : tensor<4xui8>
}

// -----

func.func @view_c1_elements(%x: tensor<4xf32>) {
  // expected-error @+1 {{'te.view' op violates constraint C1: tensor<4xf32> and tensor<5xf32> do not have the same elements}}
  %0 = te.view %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

te.schedule for @split_c1_factor {
  %s = te.stage "c"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{'te.split' op violates constraint C1: the factor must be above 0, found 0}}
  %o, %n = te.split %i by 0
}

// -----

te.kernel @extern_c2_updates(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C2: updates is 0, which names no input of the type of the only result}}
  %0 = te.extern "e"(%x) {
  ^bb0(%a: memref<4xf32>, %b: memref<5xf32>):
    loop.yield
  } {updates = 0 : i64} : (tensor<4xf32>) -> tensor<5xf32>
  te.return %0 : tensor<5xf32>
}

// -----

te.kernel @extern_c1_parts(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C1: the body must take (index, memref<24xf32>, index, index, index, memref<24xf32>, index, index, index), found (memref<24xf32>, memref<24xf32>)}}
  %0 = te.extern "e"(%x) {
  ^bb0(%a: memref<24xf32>, %b: memref<24xf32>):
    loop.yield
  } {axes = array<i64: 3>, parts = array<i64: -1, 0, 0, 0, 2, 2>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  te.return %0 : tensor<6x4xf32>
}

// -----

te.kernel @extern_c3_count(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C3: axes must be one number above 0, without updates, found [0]}}
  %0 = te.extern "e"(%x) {
  ^bb0(%q: index, %a: memref<24xf32>, %a0: index, %a1: index, %a2: index, %b: memref<24xf32>, %b0: index, %b1: index, %b2: index):
    loop.yield
  } {axes = array<i64: 0>, parts = array<i64: -1, 0, 0, 0, 2, 2>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  te.return %0 : tensor<6x4xf32>
}

// -----

te.kernel @extern_c3_updates(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C3: axes must be one number above 0, without updates, found [3]}}
  %0 = te.extern "e"(%x) {
  ^bb0(%q: index, %a: memref<24xf32>, %a0: index, %a1: index, %a2: index, %b: memref<24xf32>, %b0: index, %b1: index, %b2: index):
    loop.yield
  } {axes = array<i64: 3>, parts = array<i64: -1, 0, 0, 0, 2, 2>, updates = 0 : i64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  te.return %0 : tensor<6x4xf32>
}

// -----

te.kernel @extern_c4_gap(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C4: parts must be an axis, a step and a length for each tensor, inside of inputs and the whole of the only result, found [-1, 0, 0, 0, 2, 1]}}
  %0 = te.extern "e"(%x) {
  ^bb0(%q: index, %a: memref<24xf32>, %a0: index, %a1: index, %a2: index, %b: memref<24xf32>, %b0: index, %b1: index, %b2: index):
    loop.yield
  } {axes = array<i64: 3>, parts = array<i64: -1, 0, 0, 0, 2, 1>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  te.return %0 : tensor<6x4xf32>
}

// -----

te.kernel @extern_c4_beyond(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C4: parts must be an axis, a step and a length for each tensor, inside of inputs and the whole of the only result, found [0, 2, 3, 0, 2, 2]}}
  %0 = te.extern "e"(%x) {
  ^bb0(%q: index, %a: memref<24xf32>, %a0: index, %a1: index, %a2: index, %b: memref<24xf32>, %b0: index, %b1: index, %b2: index):
    loop.yield
  } {axes = array<i64: 3>, parts = array<i64: 0, 2, 3, 0, 2, 2>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  te.return %0 : tensor<6x4xf32>
}

// -----

te.kernel @extern_c4_one(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C4: parts must be an axis, a step and a length for each tensor, inside of inputs and the whole of the only result, found [0, 2, 2]}}
  %0 = te.extern "e"(%x) {
  ^bb0(%q: index, %a: memref<24xf32>, %a0: index, %a1: index, %a2: index, %b: memref<24xf32>, %b0: index, %b1: index, %b2: index):
    loop.yield
  } {axes = array<i64: 3>, parts = array<i64: 0, 2, 2>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  te.return %0 : tensor<6x4xf32>
}

// -----

te.kernel @dynamic_axis(%x: tensor<?xf32, #relay.dims<["n0"]>>) -> tensor<?xf32, #relay.dims<["n0"]>> attributes {te.extents = ["n0"]} {
  // expected-error @+1 {{'te.compute' op violates constraint C1: an axis has the extent -1 and no name}}
  %0 = te.compute "y" axes [-1] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<?xf32, #relay.dims<["n0"]>> -> f32
    te.yield %a : f32
  } combine {} : tensor<?xf32, #relay.dims<["n0"]>>
  te.return %0 : tensor<?xf32, #relay.dims<["n0"]>>
}

// -----

te.kernel @extern_open(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'te.extern' op violates constraint C1: every extent must be known or have a name}}
  %0 = te.extern "e"(%x) {
  ^bb0(%a: memref<4xf32>, %b: memref<4xf32>):
    loop.yield
  } : (tensor<?xf32>) -> tensor<?xf32>
  te.return %0 : tensor<?xf32>
}

// -----

func.func @piece_beyond(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'te.view' op violates constraint C2: 16 elements from 24 on do not lie inside of the 32 of}}
  %0 = te.view %x from 24 : tensor<4x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @piece_before(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'te.view' op violates constraint C2: 8 elements from -8 on do not lie inside of the 32 of}}
  %0 = te.view %x from -8 : tensor<4x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @piece_of_another_type(%x: tensor<4x8xf32>) -> tensor<8xi32> {
  // expected-error @+1 {{'te.view' op violates constraint C1: a piece of tensor<4x8xf32> has its element type, found tensor<8xi32>}}
  %0 = te.view %x from 8 : tensor<4x8xf32> -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @piece_of_open(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'te.view' op violates constraint C2: a piece needs known extents}}
  %0 = te.view %x from 8 : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @whole_of_fewer(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'te.view' op violates constraint C1: tensor<4x8xf32> and tensor<8xf32> do not have the same elements}}
  %0 = te.view %x : tensor<4x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
