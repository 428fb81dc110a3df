// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %r = te.stage "relu"
  // expected-error @+1 {{computes stage "relu" inside a reduction of stage "sum", whose elements are not known there; name a loop outside of it}}
  te.reverse_compute_at %r, %k
}

// -----

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "relu"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{computes a stage inside itself}}
  te.reverse_compute_at %s, %i
}

// -----

te.kernel @k(%x: tensor<20xf32>) -> tensor<18xf32> {
  %0 = te.compute "twice" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20xf32>
  %1 = te.compute "blur" axes [18] reduce [] init [] {
  ^bb0(%i: index):
    %c2 = arith.constant 2 : index
    %i2 = arith.addi %i, %c2 : index
    %a = te.load %0[%i] : tensor<20xf32> -> f32
    %b = te.load %0[%i2] : tensor<20xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<18xf32>
  te.return %1 : tensor<18xf32>
}
te.schedule for @k {
  %s = te.stage "blur"
  %i = te.axes %s : !te.axis
  %t = te.stage "twice"
  %ti = te.axes %t : !te.axis
  // expected-error @+1 {{computes stage "blur" at a loop of stage "twice", but does not read it element by element}}
  te.reverse_compute_at %s, %ti
}

// -----

te.kernel @k(%x: tensor<20xf32>) -> tensor<18xf32> {
  %0 = te.compute "twice" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20xf32>
  %1 = te.compute "blur" axes [18] reduce [] init [] {
  ^bb0(%i: index):
    %c2 = arith.constant 2 : index
    %i2 = arith.addi %i, %c2 : index
    %a = te.load %0[%i] : tensor<20xf32> -> f32
    %b = te.load %0[%i2] : tensor<20xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<18xf32>
  te.return %1 : tensor<18xf32>
}
te.schedule for @k {
  %s = te.stage "blur"
  %i = te.axes %s : !te.axis
  %t = te.stage "twice"
  // expected-error @+1 {{computes stage "twice" at a loop of stage "blur", which it does not read}}
  te.reverse_compute_at %t, %i
}

// -----

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "relu"
  %i = te.axes %s : !te.axis
  %t = te.stage "sum"
  // expected-error @+1 {{computes stage "sum", a reduction, at a loop of what it reads}}
  te.reverse_compute_at %t, %i
}

// -----

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %r = te.stage "relu"
  te.reverse_compute_at %r, %i
  // expected-error @+1 {{splits a loop of stage "sum" that stage "relu" is computed at; split it first}}
  %o, %n = te.split %i by 2
}

// -----

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %r = te.stage "relu"
  // expected-error @+1 {{computes stage "relu" inside a reduction of stage "sum", which was moved outside of that loop}}
  te.reverse_compute_at %r, %i
  te.reorder %k, %i
}

// -----

// Where a guard cuts an iteration off, no block of elements is known.
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %a = te.stage "a"
  %ai, %aj = te.axes %a : !te.axis, !te.axis
  %o, %n = te.split %aj by 7 tail guard
  // expected-error @+1 {{computes stage "y" at a loop of stage "a" whose iterations make no block of elements known here; name a loop outside of it, or split so that nothing is left over}}
  te.reverse_compute_at %s, %o
}

// -----

// What is computed inside the consumer would read elements that are not there yet.
te.kernel @k(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = te.compute "e" axes [4, 6] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<4x6xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4x6xf32>
  %1 = te.compute "sum" axes [4] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<4x6xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<4xf32>
  %2 = te.compute "y" axes [4, 6] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<4x6xf32> -> f32
    %b = te.load %1[%i] : tensor<4xf32> -> f32
    %c = arith.divf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<4x6xf32>
  te.return %2 : tensor<4x6xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %s = te.stage "sum"
  te.compute_at %s, %j
  %e = te.stage "e"
  %ei, %ej = te.axes %e : !te.axis, !te.axis
  // expected-error @+1 {{computes stage "y" at a loop of stage "e", but does not read it element by element}}
  te.reverse_compute_at %y, %ej
}

// -----

// Nor may it read what comes later.
te.kernel @k(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = te.compute "e" axes [4, 6] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<4x6xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4x6xf32>
  %1 = te.compute "sum" axes [4] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<4x6xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<4xf32>
  %2 = te.compute "y" axes [4, 6] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<4x6xf32> -> f32
    %b = te.load %1[%i] : tensor<4xf32> -> f32
    %c = arith.divf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<4x6xf32>
  te.return %2 : tensor<4x6xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %ei, %ej = te.axes %e : !te.axis, !te.axis
  // expected-error @+1 {{computes stage "y" at a loop of stage "e", where stage "sum", which it reads as well, is not known}}
  te.reverse_compute_at %y, %ej
}

// -----

// An iteration must make elements that lie together: each fourth column has others between.
te.kernel @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = te.compute "e" axes [4, 8] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<4x8xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4x8xf32>
  %1 = te.compute "y" axes [4, 8] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<4x8xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4x8xf32>
  te.return %1 : tensor<4x8xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %ei, %ej = te.axes %e : !te.axis, !te.axis
  %o, %p = te.split %ej parts 2
  // expected-error @+1 {{computes stage "y" at a loop of stage "e" whose iterations make no block of elements known here}}
  te.reverse_compute_at %y, %p
  te.reorder %p, %ei, %o
}
