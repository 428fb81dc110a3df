// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{violates constraint C1: the number of parts must be above 0, found 0}}
  %o, %n = te.split %j parts 0
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{violates constraint C1: it needs either a factor or a number of parts}}
  %o, %n = te.split %j
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{violates constraint C1: it needs either a factor or a number of parts}}
  %o, %n = te.split %j by 4 parts 6
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{pads stage "y", a result of the kernel, whose buffer has no room for it; use te.cache_write first}}
  %o, %n = te.split %j by 16 tail pad
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  // expected-error @+1 {{pads a reduction axis of stage "dense", which would combine elements that are none}}
  %o, %n = te.split %k by 16 tail pad
}

// -----

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
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  %ai, %aj = te.axes %a : !te.axis, !te.axis
  %o, %n = te.split %aj by 12
  // expected-error @+1 {{pads a loop of stage "a" that was split or fused before; pad an axis of the computation}}
  %p, %q = te.split %n by 8 tail pad
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "a" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.extern "byhand"(%0) {
  ^bb0(%p: memref<8xf32>, %q: memref<8xf32>):
    loop.for 8 serial {
    ^bb0(%i: index):
      %a = loop.load %p[%i] : memref<8xf32> -> f32
      loop.store %a, %q[%i] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  } : (tensor<8xf32>) -> tensor<8xf32>
  te.return %1 : tensor<8xf32>
}
te.schedule for @k {
  %s = te.stage "a"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{pads stage "a", which a loop nest written by hand reads or writes}}
  %p, %q = te.split %i by 5 tail pad
}

// -----

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
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  te.compute_at %a, %j
  // expected-error @+1 {{splits a loop of stage "y" that stage "a" is computed at; split it first}}
  %o, %n = te.split %j by 4
}

// -----

// A tail that is to be peeled off cannot be where the inner loop stands outside.
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{splits a loop of 24 iterations of stage "y" by 7 and is to peel off what is left over, but cannot: the inner loop stands outside the outer one}}
  %o, %n = te.split %j by 7 tail peel
  te.reorder %n, %o
}

// -----

// Zeros must not be divided by.
te.kernel @k(%x: tensor<10x24xi32>) -> tensor<10x24xi32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xi32> -> i32
    %b = arith.divsi %a, %a : i32
    te.yield %b : i32
  } combine {} : tensor<10x24xi32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xi32> -> i32
    %b = arith.muli %a, %a : i32
    te.yield %b : i32
  } combine {} : tensor<10x24xi32>
  te.return %1 : tensor<10x24xi32>
}
te.schedule for @k {
  %a = te.stage "a"
  %i, %j = te.axes %a : !te.axis, !te.axis
  // expected-error @+1 {{pads stage "a" with zeros, by which stage "a" divides integers}}
  %o, %n = te.split %j by 7 tail pad
}
