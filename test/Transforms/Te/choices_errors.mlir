// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},te-schedule)' --split-input-file --verify-diagnostics

// A kind must exist.
// expected-error @+1 {{kernel "k" has a choice of kind "magic", which is none of attention}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "magic", knobs = {}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// It must match.
// expected-error @+1 {{kernel "k" has a choice of kind "windows", which does not match "y" there}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "windows", knobs = {}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Stages have names.
// expected-error @+1 {{kernel "k" has a choice of kind "tiling", which does not match "z" there}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "tiling", knobs = {rows = 3, vectors = 2}, stages = ["z"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Each knob has a value.
// expected-error @+1 {{kernel "k" has a choice of kind "tiling" without knob "vectors"}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "tiling", knobs = {rows = 3}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Knobs have names.
// expected-error @+1 {{kernel "k" has a choice of kind "tiling" with knob "depth"; its knobs there are rows, vectors}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "tiling", knobs = {rows = 3, vectors = 2, depth = 1}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Values must fit together.
// expected-error @+1 {{kernel "k" has a choice of kind "contraction" with 500 for knob "rows"; its values there are 1, 2, 3}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "contraction", knobs = {vector = 1, row = 0, vectors = 1, rows = 500, "second row" = -1, "second rows" = 1, pack = 0}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Each nest has one choice.
// expected-error @+1 {{kernel "k" has several choices for stage "y"}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "contraction", knobs = {vector = 1, row = 0, vectors = 1, rows = 5, "second row" = -1, "second rows" = 1, pack = 0}, stages = ["y"]}, {kind = "contraction", knobs = {vector = 1, row = 0, vectors = 1, rows = 5, "second row" = -1, "second rows" = 1, pack = 0}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Each nest has a choice.
// expected-error @+1 {{kernel "k" has no choice for stage "y"}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = []} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Choices are a list.
// expected-error @+1 {{kernel "k" has an attribute te.choices that is no list of}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = 7 : i64} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

// -----

// Widths of vectors are powers of two.
// expected-error @+1 {{kernel "k" has choices for vectors of 12 bytes; a power of two from 8 to 256 is expected}}
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "tiling", knobs = {rows = 3, vectors = 2}, stages = ["y"], vector_bytes = 12}]} {
  %0 = te.compute "y" axes [64, 80] reduce [48] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<64x48xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<48x80xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<64x80xf32>
  te.return %0 : tensor<64x80xf32>
}

