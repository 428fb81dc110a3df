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
  // expected-error @+1 {{makes a stage "dense", but the kernel has one of that name}}
  %c = te.cache_read %w as "dense"
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
  // expected-error @+1 {{names argument 2; the kernel has 2}}
  %w = te.input 2
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
  // expected-error @+1 {{copies a tensor that no stage reads}}
  %c = te.cache_read %s as "copy"
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
  // expected-error @+1 {{is for stage "blur", which does not read that tensor}}
  %c = te.cache_read %x as "copy" for %s
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
  te.compute_inline %t
  // expected-error @+1 {{copies stage "twice", which is inlined and has no memory}}
  %c = te.cache_read %t as "copy"
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
  // expected-error @+1 {{computes stage "twice" at a loop of stage "blur", where stage "copy", which reads it, does not find it}}
  te.compute_at %t, %i
  %c = te.cache_read %t as "copy"
}

// -----

te.kernel @k(%x: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %0 = te.compute "sum" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = te.load %y[%i] : tensor<20xf32> -> f32
    %c = te.load %x[%i] : tensor<20xf32> -> f32
    %d = arith.addf %a, %b : f32
    %e = arith.addf %d, %c : f32
    te.yield %e : f32
  } combine {} : tensor<20xf32>
  te.return %0 : tensor<20xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i = te.axes %s : !te.axis
  %x = te.input 0
  // expected-error @+1 {{is for read 1 of stage "sum", which reads that tensor by [0, 2] of its 3 reads; name one of these}}
  %c = te.cache_read %x as "copy" for %s read 1
}

// -----

te.kernel @k(%x: tensor<20xf32>) -> tensor<20xf32> {
  %0 = te.compute "twice" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20xf32>
  te.return %0 : tensor<20xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i = te.axes %s : !te.axis
  %x = te.input 0
  // expected-error @+1 {{is for read 0 of 0 stages; name the one stage whose read it is}}
  %c = te.cache_read %x as "copy" read 0
}
