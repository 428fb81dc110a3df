// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=x86-64-v4},te-schedule)' --split-input-file | FileCheck %s

// What was chosen is taken in place of what is estimated to take least: five rows of one vector.
// CHECK-LABEL: te.schedule for @k
// CHECK-DAG:     te.split %{{.*}} by 5
// CHECK-DAG:     te.split %{{.*}} by 16
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "contraction", knobs = {vector = 1, row = 0, vectors = 1, rows = 5, "second row" = -1, "second rows" = 1, pack = 0}, stages = ["y"]}]} {
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

// Another kind, which is estimated to take longer.
// CHECK-LABEL: te.schedule for @k
// CHECK:         te.split %{{.*}} by 3
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "tiling", knobs = {rows = 3, vectors = 2}, stages = ["y"]}]} {
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

// Vectors of another width than the target's.
// CHECK-LABEL: te.schedule for @k
// CHECK:         te.split %{{.*}} by 4
// CHECK-NOT:     te.split %{{.*}} by 16
// CHECK:         te.vectorize
te.kernel @k(%x: tensor<64x48xf32>, %w: tensor<48x80xf32>) -> tensor<64x80xf32> attributes {te.choices = [{kind = "tiling", knobs = {rows = 3, vectors = 2}, stages = ["y"], vector_bytes = 16}]} {
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

