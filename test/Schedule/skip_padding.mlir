// RUN: fusion-opt %s --te-lower --canonicalize --split-input-file | FileCheck %s

// Windows of 3 rows on 5 rows that begin one row outside: k goes from 1 - i to 5 - i, of 0 to 2.
// CHECK: #[[FIRST:.*]] = affine_map<(d0) -> (-d0 + 1)>
// CHECK: #[[END:.*]] = affine_map<(d0) -> (-d0 + 6)>
// CHECK-LABEL: func.func private @rows(
// CHECK:       loop.for 5 serial
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index):
// CHECK:         %[[LOW:.*]] = affine.apply #[[FIRST]](%[[I]])
// CHECK:         %[[BEGIN:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK:         %[[HIGH:.*]] = affine.apply #[[END]](%[[I]])
// CHECK:         %[[STOP:.*]] = arith.minsi %[[HIGH]], %c3
// CHECK:         %[[COUNT:.*]] = arith.subi %[[STOP]], %[[BEGIN]]
// CHECK:         loop.upto %[[COUNT]] serial iter
// CHECK-NEXT:    ^bb0(%[[STEP:.*]]: index, %{{.*}}: f32):
// CHECK:           arith.addi %[[BEGIN]], %[[STEP]]
te.kernel @rows(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
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
te.schedule for @rows {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.skip_padding %k
}

// -----

// What no copy of an unrolled tile of 5 needs, there is none of: the loop stays as it is.
// CHECK-LABEL: func.func private @whole_tile(
// CHECK:       loop.for 5 unrolled
// CHECK-NOT:     loop.upto
// CHECK:         loop.for 3 serial iter
te.kernel @whole_tile(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
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
te.schedule for @whole_tile {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.unroll %i
  te.skip_padding %k
}

// -----

// The rows of a tile are asked together: of rows 2 o and 2 o + 1 the latter needs k from 1 - o on, where elements of a window are two rows apart.
// CHECK: #[[FIRST:.*]] = affine_map<(d0) -> (-d0 + 1)>
// CHECK: #[[END:.*]] = affine_map<(d0) -> (-d0 + 4)>
// CHECK-LABEL: func.func private @tiles(
// CHECK:       loop.for 3 serial
// CHECK-NEXT:  ^bb0(%[[O:.*]]: index):
// CHECK:         loop.for 2 unrolled
// CHECK:           affine.apply #[[FIRST]](%[[O]])
// CHECK:           affine.apply #[[END]](%[[O]])
// CHECK:           loop.upto
te.kernel @tiles(%x: tensor<6xf32>, %w: tensor<3xf32>) -> tensor<6xf32> {
  %0 = te.compute "pad" axes [10] reduce [] init [] {
  ^bb0(%i: index):
    %two = arith.constant 2 : index
    %zero = arith.constant 0 : index
    %six = arith.constant 6 : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %two : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %six : index
    %r = arith.andi %p, %q : i1
    %e = te.load_if %r, %x[%a] else %z : tensor<6xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<10xf32>
  %1 = te.compute "conv" axes [6] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %two = arith.constant 2 : index
    %b = arith.muli %k, %two : index
    %a = arith.addi %i, %b : index
    %d = te.load %0[%a] : tensor<10xf32> -> f32
    %e = te.load %w[%k] : tensor<3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @tiles {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %o, %u = te.split %i by 2
  te.unroll %u
  te.skip_padding %k
}

// -----

// What is written out after it has all of its iterations at once.
// CHECK-LABEL: func.func private @all_at_once(
// CHECK-NOT:   loop.upto
// CHECK:       loop.for 3 unrolled
te.kernel @all_at_once(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
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
te.schedule for @all_at_once {
  %s = te.stage "conv"
  %i, %k = te.axes %s : !te.axis, !te.axis
  te.skip_padding %k
  te.unroll %k
}
