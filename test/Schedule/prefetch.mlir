// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// In a reduction, the row of two iterations later, never beyond the end: that a row begins in, and so no column of it.
// CHECK: #[[AHEAD:.*]] = affine_map<(d0) -> (d0 * 32 + 64)>
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    {llvm.noalias}, %[[W:.*]]: memref<768xf32>
// CHECK:       loop.for 32 serial
// CHECK-NEXT:  ^bb0(%[[J:.*]]: index):
// CHECK:       loop.for 24 serial iter
// CHECK-NEXT:  ^bb0(%[[K:.*]]: index, %{{.*}}: f32):
// CHECK:         %[[A:.*]] = affine.apply #[[AHEAD]](%[[K]])
// CHECK:         %[[LOW:.*]] = arith.maxsi %[[A]]
// CHECK:         %[[LAST:.*]] = arith.constant 736 : index
// CHECK:         %[[ROW:.*]] = arith.minsi %[[LOW]], %[[LAST]]
// CHECK:         %[[AT:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK:         loop.prefetch %[[W]][%[[AT]]] : memref<768xf32>
// CHECK:         loop.load %[[W]]
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
  te.prefetch %w, %k ahead 2
}

// -----

// Outside of it, a line of 16 elements at a time.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<144xf32>
// CHECK:       loop.for 6 serial
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index):
// CHECK-COUNT-2: loop.prefetch %[[X]]
// CHECK-NOT:     loop.prefetch
// CHECK:         loop.for 32 serial
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
  te.prefetch %x, %i ahead 1
}

// -----

// In panels, the columns of one lie side by side: two lines of 16 for each row, the second from the first on.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 serial
// CHECK:         loop.for 24 serial
// CHECK:           %[[LAST:.*]] = arith.constant 751 : index
// CHECK:           %[[AHEAD:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK:           loop.prefetch %[[W:.*]][%[[AHEAD]]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[AHEAD]],
// CHECK:           loop.prefetch %[[W]][%[[NEXT]]]
// CHECK:           loop.for 32 serial
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
  %c = te.cache_read %w as "panel"
  te.transform_layout %c by affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>
  te.reorder %i, %k, %j
  te.prefetch %c, %k ahead 2
}

// -----

// Over a loop inside, each iteration prefetches a share of what the next row of tiles reads: 4 rows of 24 elements, which lie side by
// side, in 48 steps, so 2 elements a step; and of what it writes, 4 runs of 2 lines.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<288xf32> {{.*}}, %[[W:.*]]: memref<768xf32> {{.*}}, %[[Y:.*]]: memref<384xf32>
// CHECK:       loop.for 3 serial
// CHECK-NOT:     loop.prefetch
// CHECK:         loop.for 2 serial
// CHECK-NOT:       loop.prefetch
// CHECK:             loop.for 24 serial
// CHECK:               loop.load
// CHECK:               loop.prefetch %[[X]]
// CHECK:               loop.prefetch %[[Y]]
// CHECK-NEXT:          loop.yield
te.kernel @k(%x: tensor<12x24xf32>, %w: tensor<24x32xf32>) -> tensor<12x32xf32> {
  %0 = te.compute "dense" axes [12, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<12x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<12x32xf32>
  te.return %0 : tensor<12x32xf32>
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %io, %ii = te.split %i by 4
  %jo, %ji = te.split %j by 16
  te.reorder %io, %jo, %ii, %ji, %k
  te.unroll %ii
  te.vectorize %ji
  %x = te.input 0
  te.prefetch %x, %io ahead 1 over %k
  te.prefetch %s, %io ahead 1 over %k
}

// -----

// The loop inside is that of a stage that is computed there.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<288xf32>
// CHECK:       loop.for 3 serial
// CHECK:             loop.for 24 serial
// CHECK:               loop.prefetch %[[X]]
te.kernel @k(%x: tensor<12x24xf32>, %w: tensor<24x32xf32>) -> tensor<12x32xf32> {
  %0 = te.compute "dense" axes [12, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<12x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<12x32xf32>
  %1 = te.compute "twice" axes [12, 32] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<12x32xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<12x32xf32>
  te.return %1 : tensor<12x32xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %io, %ii = te.split %i by 4
  te.reorder %io, %j, %ii
  te.unroll %ii
  %d = te.stage "dense"
  te.compute_at %d, %ii
  %di, %dj, %dk = te.axes %d : !te.axis, !te.axis, !te.axis
  %x = te.input 0
  te.prefetch %x, %io ahead 1 over %dk
}

// -----

// Where the last tile has fewer rows, no more is prefetched: one line a step of the next 4 of 142 rows.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<3408xf32>
// CHECK:       loop.for 35 serial
// CHECK:             loop.for 24 serial
// CHECK:               loop.load
// CHECK-NOT:           loop.prefetch
// CHECK:               loop.prefetch %[[X]]
// CHECK-NEXT:          loop.yield
te.kernel @k(%x: tensor<142x24xf32>, %w: tensor<24x2xf32>) -> tensor<142x2xf32> {
  %0 = te.compute "dense" axes [142, 2] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<142x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x2xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<142x2xf32>
  %1 = te.compute "twice" axes [142, 2] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<142x2xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<142x2xf32>
  te.return %1 : tensor<142x2xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %io, %ii = te.split %i by 4
  te.reorder %io, %j, %ii
  te.unroll %ii
  %d = te.stage "dense"
  te.compute_at %d, %ii
  %di, %dj, %dk = te.axes %d : !te.axis, !te.axis, !te.axis
  %x = te.input 0
  te.prefetch %x, %io ahead 1 over %dk
}

// -----

// More lines than 16 are prefetched by a loop.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 serial
// CHECK:         loop.for 36 serial
// CHECK:           loop.prefetch
// CHECK:         loop.for 32 serial
te.kernel @k(%x: tensor<6x576xf32>, %w: tensor<576x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [576] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x576xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<576x32xf32> -> f32
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
  te.prefetch %x, %i ahead 1
}

// -----

// Reads that meet are prefetched once: of 24 numbers the two halves of a row. Six lines that lie side by side, in each of four steps.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<2304xf32>
// CHECK:       loop.for 6 serial
// CHECK:         loop.for 4 serial
// CHECK:           loop.load
// CHECK-COUNT-6:   loop.prefetch %[[X]]
// CHECK-NEXT:      loop.yield
te.kernel @k(%x: tensor<6x384xf32>) -> tensor<6x192xf32> {
  %0 = te.compute "sums" axes [6, 192] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %c192 = arith.constant 192 : index
    %a = te.load %x[%i, %j] : tensor<6x384xf32> -> f32
    %jj = arith.addi %j, %c192 : index
    %b = te.load %x[%i, %jj] : tensor<6x384xf32> -> f32
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<6x192xf32>
  te.return %0 : tensor<6x192xf32>
}
te.schedule for @k {
  %s = te.stage "sums"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %jo, %ji = te.split %j by 48
  te.vectorize %ji
  %x = te.input 0
  te.prefetch %x, %i ahead 1 over %jo
}
