// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %0 = te.compute "pad" axes [7] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %one : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %five : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<5xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<7xf32>
  %1 = te.compute "conv" axes [5] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = arith.addi %i, %k : index
    %d = te.load %0[%a] : tensor<7xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<5xf32>
  te.return %1 : tensor<5xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{passes over iterations of a loop of stage "conv" that is none of a reduction, each of which has a result}}
  te.skip_padding %i
}

// -----

te.kernel @k(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %0 = te.compute "pad" axes [7] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %one : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %five : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<5xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<7xf32>
  %1 = te.compute "conv" axes [5] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = arith.addi %i, %k : index
    %d = te.load %0[%a] : tensor<7xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<5xf32>
  te.return %1 : tensor<5xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.unroll %k
  // expected-error @+1 {{passes over iterations of a loop of stage "conv" that is not serial, which has all of them at once}}
  te.skip_padding %k
}

// -----

te.kernel @k(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %0 = te.compute "pad" axes [7] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %one : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %five : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<5xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<7xf32>
  %1 = te.compute "conv" axes [5] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = arith.addi %i, %k : index
    %d = te.load %0[%a] : tensor<7xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<5xf32>
  te.return %1 : tensor<5xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.skip_padding %k
  // expected-error @+1 {{annotates a loop of stage "conv" with "skips_padding" a second time}}
  te.skip_padding %k
}

// -----

// A greatest number is none of a sum, to which a zero adds nothing.
te.kernel @k(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %0 = te.compute "pad" axes [7] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %one : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %five : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<5xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<7xf32>
  %1 = te.compute "conv" axes [5] reduce [3] init [0xFF800000 : f32] {
  ^bb0(%i: index, %k: index):
    %a = arith.addi %i, %k : index
    %d = te.load %0[%a] : tensor<7xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %q : f32
    te.yield %s : f32
  } : tensor<5xf32>
  te.return %1 : tensor<5xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{passes over iterations of a loop of stage "conv", which is no sum of products with elements of a stage that pads with zeros along it}}
  te.skip_padding %k
}

// -----

// Ones are no zeros.
te.kernel @k(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %0 = te.compute "pad" axes [7] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %z = arith.constant 1.0 : f32
    %a = arith.subi %i, %one : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %five : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<5xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<7xf32>
  %1 = te.compute "conv" axes [5] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = arith.addi %i, %k : index
    %d = te.load %0[%a] : tensor<7xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<5xf32>
  te.return %1 : tensor<5xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{passes over iterations of a loop of stage "conv", which is no sum of products with elements of a stage that pads with zeros along it}}
  te.skip_padding %k
}

// -----

te.kernel @k(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %0 = te.compute "pad" axes [7] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %one : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %five : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<5xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<7xf32>
  %1 = te.compute "conv" axes [5] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = arith.addi %i, %k : index
    %d = te.load %0[%a] : tensor<7xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<5xf32>
  te.return %1 : tensor<5xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.skip_padding %k
  // expected-error @+1 {{splits a loop of stage "conv" that is annotated already; split it first}}
  %a, %b = te.split %k by 2
}
