// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=nvidia:sm_80},te-schedule)' --split-input-file | FileCheck %s

// What was chosen is taken in place of what is estimated to take least: threads of four by two results.
// CHECK-LABEL: te.schedule for @k
// CHECK:         te.split %{{.*}} by 64 tail guard
// CHECK:         te.split %{{.*}} by 32 tail guard
// CHECK:         te.split %{{.*}} by 4
// CHECK:         te.split %{{.*}} by 2
te.kernel @k(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>) -> tensor<512x512xf32> attributes {te.choices = [{kind = "contraction", knobs = {rows = 4, columns = 2, parts = 1}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [512, 512] reduce [256] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<512x256xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<256x512xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<512x512xf32>
  te.return %0 : tensor<512x512xf32>
}

// -----

// Another kind, which is estimated to take longer: a thread for each result, 128 a block.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.cache_read
// CHECK:         te.split %{{.*}} by 128 tail guard
te.kernel @k(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>) -> tensor<512x512xf32> attributes {te.choices = [{kind = "elements", knobs = {lanes = 1, threads = 128}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [512, 512] reduce [256] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<512x256xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<256x512xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<512x512xf32>
  te.return %0 : tensor<512x512xf32>
}

// -----

// What a product copies is computed where it is read, if the kind that was chosen copies nothing.
// CHECK-LABEL: te.schedule for @k
// CHECK:         te.compute_inline
// CHECK-NOT:     te.tensorize
te.kernel @k(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf32> attributes {te.choices = [{kind = "elements", knobs = {lanes = 1, threads = 256}, stages = ["y"]}]} {
  %n = te.compute "n" axes [256, 256] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<256x256xf16> -> f16
    %d = arith.negf %a : f16
    te.yield %d : f16
  } combine {
  } : tensor<256x256xf16>
  %0 = te.compute "y" axes [256, 256] reduce [256] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %n[%i, %r] : tensor<256x256xf16> -> f16
    %c = te.load %w[%r, %j] : tensor<256x256xf16> -> f16
    %e = arith.extf %a : f16 to f32
    %f = arith.extf %c : f16 to f32
    %d = arith.mulf %e, %f : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<256x256xf32>
  te.return %0 : tensor<256x256xf32>
}

// -----

// By an instruction, in tiles of 64 x 64.
// CHECK-LABEL: te.schedule for @k
// CHECK:         te.split %{{.*}} by 64
// CHECK:         te.split %{{.*}} by 64
// CHECK:         te.tensorize
te.kernel @k(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf32> attributes {te.choices = [{kind = "matrix", knobs = {parts = 1, rows = 64, columns = 64}, stages = ["y"]}]} {
  %0 = te.compute "y" axes [256, 256] reduce [256] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<256x256xf16> -> f16
    %c = te.load %w[%r, %j] : tensor<256x256xf16> -> f16
    %e = arith.extf %a : f16 to f32
    %f = arith.extf %c : f16 to f32
    %d = arith.mulf %e, %f : f32
    te.yield %d : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<256x256xf32>
  te.return %0 : tensor<256x256xf32>
}
