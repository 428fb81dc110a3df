// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
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
  %w = te.input 1
  // expected-error @+1 {{violates constraint C1: it must be some iterations ahead, found 0}}
  te.prefetch %w, %k ahead 0
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
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
  %w = te.input 1
  // expected-error @+1 {{prefetches in a loop of stage "dense" that is one vector}}
  te.prefetch %w, %j ahead 1
  te.vectorize %j
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
  %x = te.input 0
  // expected-error @+1 {{prefetches what stage "blur" does not read}}
  te.prefetch %x, %i ahead 1
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
  te.compute_at %t, %i
  // expected-error @+1 {{prefetches stage "twice", which is not computed before stage "blur"}}
  te.prefetch %t, %i ahead 1
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
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
  %x = te.input 0
  // expected-error @+1 {{prefetches over a loop of stage "dense", which must be a serial one inside that of stage "dense"}}
  te.prefetch %x, %k ahead 1 over %i
}

// -----

te.kernel @k(%x: tensor<20x8xf32>) -> tensor<18x8xf32> {
  %0 = te.compute "twice" axes [20, 8] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<20x8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20x8xf32>
  %1 = te.compute "blur" axes [18, 8] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %c2 = arith.constant 2 : index
    %i2 = arith.addi %i, %c2 : index
    %a = te.load %0[%i, %j] : tensor<20x8xf32> -> f32
    %b = te.load %0[%i2, %j] : tensor<20x8xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<18x8xf32>
  te.return %1 : tensor<18x8xf32>
}
te.schedule for @k {
  %s = te.stage "blur"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %x = te.input 0
  // expected-error @+1 {{prefetches what stage "blur" neither reads nor writes}}
  te.prefetch %x, %i ahead 1 over %j
}
