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
  // expected-error @+1 {{moves stage "relu", a result of the kernel, into another's loop}}
  te.compute_at %r, %i
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
  // expected-error @+1 {{computes a stage inside itself}}
  te.compute_at %s, %i
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<8x4xf32> {
  %0 = te.compute "twice" axes [9, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<9x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<9x4xf32>
  %1 = te.extern "pairs"(%0) {
  ^bb0(%q: index, %in: memref<36xf32>, %from: index, %in0: index, %in1: index, %out: memref<32xf32>, %to: index, %out0: index, %out1: index):
    loop.for 4 serial {
    ^bb0(%j: index):
      %next = arith.addi %from, %in0 : index
      %p = arith.addi %from, %j : index
      %n = arith.addi %next, %j : index
      %a = loop.load %in[%p] : memref<36xf32> -> f32
      %b = loop.load %in[%n] : memref<36xf32> -> f32
      %c = arith.addf %a, %b : f32
      %t = arith.addi %to, %j : index
      loop.store %c, %out[%t] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  } {axes = array<i64: 8>, parts = array<i64: 0, 1, 2, 0, 1, 1>} : (tensor<9x4xf32>) -> tensor<8x4xf32>
  %2 = te.compute "y" axes [8, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<8x4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<8x4xf32>
  te.return %2 : tensor<8x4xf32>
}
te.schedule for @k {
  %pairs = te.stage "pairs"
  %q = te.axes %pairs : !te.axis
  // expected-error @+1 {{arranges the loop of stage "pairs", a loop nest written by hand, whose parts can only be computed elsewhere or in parallel}}
  te.unroll %q
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<8x4xf32> {
  %0 = te.compute "twice" axes [9, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<9x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<9x4xf32>
  %1 = te.extern "pairs"(%0) {
  ^bb0(%in: memref<36xf32>, %out: memref<32xf32>):
    loop.for 32 serial {
    ^bb0(%j: index):
      %a = loop.load %in[%j] : memref<36xf32> -> f32
      loop.store %a, %out[%j] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  } : (tensor<9x4xf32>) -> tensor<8x4xf32>
  %2 = te.compute "y" axes [8, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<8x4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<8x4xf32>
  te.return %2 : tensor<8x4xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %all = te.stage "pairs"
  // expected-error @+1 {{moves stage "pairs", a loop nest that does not compute in parts}}
  te.compute_at %all, %i
}
