// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<2x3x6x6xf32>, %f: tensor<5x3x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = te.compute "conv" axes [2, 5, 4, 4] reduce [3, 3, 3] init [0.0 : f32] {
  ^bb0(%n: index, %o: index, %h: index, %w: index, %c: index, %r: index, %s: index):
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %a = te.load %x[%n, %c, %hr, %ws] : tensor<2x3x6x6xf32> -> f32
    %b = te.load %f[%o, %c, %r, %s] : tensor<5x3x3x3xf32> -> f32
    %m = arith.mulf %a, %b : f32
    te.yield %m : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<2x5x4x4xf32>
  %1 = te.compute "relu" axes [2, 5, 4, 4] reduce [] init [] {
  ^bb0(%n: index, %o: index, %h: index, %w: index):
    %zero = arith.constant 0.0 : f32
    %a = te.load %0[%n, %o, %h, %w] : tensor<2x5x4x4xf32> -> f32
    %b = arith.maximumf %a, %zero : f32
    te.yield %b : f32
  } combine {} : tensor<2x5x4x4xf32>
  te.return %1 : tensor<2x5x4x4xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  // expected-error @+1 {{gives the 7 axes of stage "conv" the numbers [0, 1, 2, 2, 3, 3]; they must be one each, from 0 in steps of 0 or 1}}
  %b, %a = te.reindex %s by [0, 1, 2, 2, 3, 3] as "b" [0, 3, 2] and "a" [1, 3]
}

// -----

te.kernel @k(%x: tensor<2x3x6x6xf32>, %f: tensor<5x3x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = te.compute "conv" axes [2, 5, 4, 4] reduce [3, 3, 3] init [0.0 : f32] {
  ^bb0(%n: index, %o: index, %h: index, %w: index, %c: index, %r: index, %s: index):
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %a = te.load %x[%n, %c, %hr, %ws] : tensor<2x3x6x6xf32> -> f32
    %b = te.load %f[%o, %c, %r, %s] : tensor<5x3x3x3xf32> -> f32
    %m = arith.mulf %a, %b : f32
    te.yield %m : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<2x5x4x4xf32>
  %1 = te.compute "relu" axes [2, 5, 4, 4] reduce [] init [] {
  ^bb0(%n: index, %o: index, %h: index, %w: index):
    %zero = arith.constant 0.0 : f32
    %a = te.load %0[%n, %o, %h, %w] : tensor<2x5x4x4xf32> -> f32
    %b = arith.maximumf %a, %zero : f32
    te.yield %b : f32
  } combine {} : tensor<2x5x4x4xf32>
  te.return %1 : tensor<2x5x4x4xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  // expected-error @+1 {{gives the 7 axes of stage "conv" the numbers [0, 1, 2, 2, 2, 3, 3]}}
  %b, %a = te.reindex %s by [0, 1, 2, 2, 2, 3, 3] as "b" [0, 3, 2] and "a" [1, 3]
}

// -----

te.kernel @k(%x: tensor<2x3x6x6xf32>, %f: tensor<5x3x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = te.compute "conv" axes [2, 5, 4, 4] reduce [3, 3, 3] init [0.0 : f32] {
  ^bb0(%n: index, %o: index, %h: index, %w: index, %c: index, %r: index, %s: index):
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %a = te.load %x[%n, %c, %hr, %ws] : tensor<2x3x6x6xf32> -> f32
    %b = te.load %f[%o, %c, %r, %s] : tensor<5x3x3x3xf32> -> f32
    %m = arith.mulf %a, %b : f32
    te.yield %m : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<2x5x4x4xf32>
  %1 = te.compute "relu" axes [2, 5, 4, 4] reduce [] init [] {
  ^bb0(%n: index, %o: index, %h: index, %w: index):
    %zero = arith.constant 0.0 : f32
    %a = te.load %0[%n, %o, %h, %w] : tensor<2x5x4x4xf32> -> f32
    %b = arith.maximumf %a, %zero : f32
    te.yield %b : f32
  } combine {} : tensor<2x5x4x4xf32>
  te.return %1 : tensor<2x5x4x4xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  // expected-error @+1 {{copies operand 0 of stage "conv" with the axes [0, 3], each of which must be there once, and all that it goes along}}
  %b, %a = te.reindex %s by [0, 1, 2, 2, 3, 3, 3] as "b" [0, 3] and "a" [1, 3]
}

// -----

te.kernel @k(%x: tensor<2x3x6x6xf32>, %f: tensor<5x3x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = te.compute "conv" axes [2, 5, 4, 4] reduce [3, 3, 3] init [0.0 : f32] {
  ^bb0(%n: index, %o: index, %h: index, %w: index, %c: index, %r: index, %s: index):
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %a = te.load %x[%n, %c, %hr, %ws] : tensor<2x3x6x6xf32> -> f32
    %b = te.load %f[%o, %c, %r, %s] : tensor<5x3x3x3xf32> -> f32
    %m = arith.mulf %a, %b : f32
    te.yield %m : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<2x5x4x4xf32>
  %1 = te.compute "relu" axes [2, 5, 4, 4] reduce [] init [] {
  ^bb0(%n: index, %o: index, %h: index, %w: index):
    %zero = arith.constant 0.0 : f32
    %a = te.load %0[%n, %o, %h, %w] : tensor<2x5x4x4xf32> -> f32
    %b = arith.maximumf %a, %zero : f32
    te.yield %b : f32
  } combine {} : tensor<2x5x4x4xf32>
  te.return %0 : tensor<2x5x4x4xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  // expected-error @+1 {{gives stage "conv", a result of the kernel, other axes; use te.cache_write first}}
  %b, %a = te.reindex %s by [0, 1, 2, 2, 3, 3, 3] as "b" [0, 3, 2] and "a" [1, 3]
}

// -----

te.kernel @k(%x: tensor<2x3x6x6xf32>, %f: tensor<5x3x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = te.compute "conv" axes [2, 5, 4, 4] reduce [3, 3, 3] init [0.0 : f32] {
  ^bb0(%n: index, %o: index, %h: index, %w: index, %c: index, %r: index, %s: index):
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %a = te.load %x[%n, %c, %hr, %ws] : tensor<2x3x6x6xf32> -> f32
    %b = te.load %f[%o, %c, %r, %s] : tensor<5x3x3x3xf32> -> f32
    %m = arith.mulf %a, %b : f32
    te.yield %m : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<2x5x4x4xf32>
  %1 = te.compute "relu" axes [2, 5, 4, 4] reduce [] init [] {
  ^bb0(%n: index, %o: index, %h: index, %w: index):
    %zero = arith.constant 0.0 : f32
    %a = te.load %0[%n, %o, %h, %w] : tensor<2x5x4x4xf32> -> f32
    %b = arith.maximumf %a, %zero : f32
    te.yield %b : f32
  } combine {} : tensor<2x5x4x4xf32>
  te.return %1 : tensor<2x5x4x4xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %n, %o, %h, %w, %c, %r, %t = te.axes %s : !te.axis, !te.axis, !te.axis, !te.axis, !te.axis, !te.axis, !te.axis
  %ho, %hi = te.split %h by 2
  // expected-error @+1 {{gives stage "conv" other axes after other primitives; do it first}}
  %b, %a = te.reindex %s by [0, 1, 2, 2, 3, 3, 3] as "b" [0, 3, 2] and "a" [1, 3]
}
