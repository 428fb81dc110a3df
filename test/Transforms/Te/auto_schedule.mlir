// RUN: fusion-opt %s --te-schedule --split-input-file | FileCheck %s

// Elementwise stages go into the last one, which is vectorized.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[T:.*]] = te.stage "twice"
// CHECK:         te.compute_inline %[[T]]
// CHECK:         te.stage "y"
// CHECK:         te.vectorize
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}

// -----

// A reduction goes into its epilogue.
// CHECK-LABEL: te.schedule for @k
// CHECK-DAG:     te.stage "relu"
// CHECK-DAG:     te.stage "sum"
// CHECK:         te.compute_at
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

// -----

// A kernel that has a schedule keeps it.
// CHECK-LABEL: te.schedule for @kept
// CHECK-NOT: te.schedule
te.kernel @kept(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "twice" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<8xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  te.return %1 : tensor<8xf32>
}
te.schedule for @kept {
}

// -----

// What goes over the same rows is computed at the loop over them; reductions are combined in lanes, in several vectors.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[S:.*]] = te.stage "sum"
// CHECK:         %[[Y:.*]] = te.stage "y"
// CHECK:         %[[I:.*]]:2 = te.axes %[[Y]]
// CHECK:         te.compute_at %[[S]], %[[I]]#0
// CHECK:         %[[E:.*]] = te.stage "exp"
// CHECK:         te.compute_at %[[E]], %[[I]]#0
// CHECK:         te.vectorize
// CHECK:         %[[K:.*]]:2 = te.axes %[[S]]
// CHECK:         te.split %[[K]]#1 by 128
// CHECK:         te.split %{{.*}} by 16
// CHECK:         te.unroll
// CHECK:         te.vectorize
// CHECK:         te.split %[[I]]#1 by 16
// CHECK:         te.vectorize
te.kernel @k(%x: tensor<6x1000xf32>) -> tensor<6x1000xf32> {
  %0 = te.compute "exp" axes [6, 1000] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<6x1000xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<6x1000xf32>
  %1 = te.compute "sum" axes [6] reduce [1000] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<6x1000xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %2 = te.compute "y" axes [6, 1000] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<6x1000xf32> -> f32
    %b = te.load %1[%i] : tensor<6xf32> -> f32
    %c = arith.divf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<6x1000xf32>
  te.return %2 : tensor<6x1000xf32>
}

// -----

// A reduction over the outer axis walks the rows, with a block of columns in cache; several rows take part at once.
// CHECK-LABEL: te.schedule for @columns
// CHECK:         %[[A:.*]]:2 = te.axes
// CHECK:         %[[O:.*]], %[[V:.*]] = te.split %[[A]]#0 by 16
// CHECK:         te.vectorize %[[V]]
// CHECK:         %[[K:.*]], %[[I:.*]] = te.split %[[A]]#1 by 8
// CHECK:         te.unroll %[[I]]
// CHECK:         te.reorder %[[K]], %[[O]], %[[V]], %[[I]]
te.kernel @columns(%x: tensor<48x1024xf32>) -> tensor<1024xf32> {
  %0 = te.compute "sum" axes [1024] reduce [48] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %a = te.load %x[%k, %j] : tensor<48x1024xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<1024xf32>
  te.return %0 : tensor<1024xf32>
}

// -----

// Few columns are accumulated in registers.
// CHECK-LABEL: te.schedule for @few_columns
// CHECK:         %[[A:.*]]:2 = te.axes
// CHECK:         %[[O:.*]], %[[V:.*]] = te.split %[[A]]#0 by 16
// CHECK:         te.unroll %[[O]]
// CHECK:         te.vectorize %[[V]]
// CHECK-NOT:     te.reorder
te.kernel @few_columns(%x: tensor<800x64xf32>) -> tensor<64xf32> {
  %0 = te.compute "sum" axes [64] reduce [800] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %a = te.load %x[%k, %j] : tensor<800x64xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<64xf32>
  te.return %0 : tensor<64xf32>
}

// -----

// A short reduction is written out.
// CHECK-LABEL: te.schedule for @short
// CHECK:         %[[A:.*]]:2 = te.axes
// CHECK-NEXT:    te.unroll %[[A]]#1
// CHECK-NEXT:  }
te.kernel @short(%x: tensor<4096x5xf32>) -> tensor<4096xf32> {
  %0 = te.compute "sum" axes [4096] reduce [5] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4096x5xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<4096xf32>
  te.return %0 : tensor<4096xf32>
}

// -----

// Elements that run a loop are computed in several registers side by side.
// CHECK-LABEL: te.schedule for @loops
// CHECK:         %[[S:.*]] = te.stage "loop"
// CHECK:         %[[O:.*]], %[[V:.*]] = te.split %{{.*}} by 64
// CHECK:         te.vectorize %[[V]]
// CHECK:         te.parallel %[[O]]
te.kernel @loops(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = te.compute "loop" axes [4096] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4096xf32> -> f32
    %r = loop.for 1000 serial iter(%a : f32) {
    ^bb0(%step: index, %c: f32):
      %s = math.sin %c : f32
      loop.yield %s : f32
    } -> f32
    te.yield %r : f32
  } combine {} : tensor<4096xf32>
  te.return %0 : tensor<4096xf32>
}

// -----

// So are others, four registers at a time.
// CHECK-LABEL: te.schedule for @registers
// CHECK:         te.split %{{.*}} by 64
te.kernel @registers(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = te.compute "exp" axes [4096] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<4096xf32> -> f32
    %e = math.exp %a : f32
    te.yield %e : f32
  } combine {} : tensor<4096xf32>
  te.return %0 : tensor<4096xf32>
}

// -----

// Rows of three registers are three vectors: two and what is left over would take longer.
// CHECK-LABEL: te.schedule for @three
// CHECK:         te.split %{{.*}} by 16
te.kernel @three(%x: tensor<512x50xf32>, %s: tensor<512xf32>) -> tensor<512x50xf32> {
  %0 = te.compute "scaled" axes [512, 50] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<512x50xf32> -> f32
    %b = te.load %s[%i] : tensor<512xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<512x50xf32>
  te.return %0 : tensor<512x50xf32>
}

// -----

// What is read takes registers: of ten numbers an element there is room for two.
// CHECK-LABEL: te.schedule for @many
// CHECK:         te.split %{{.*}} by 32
te.kernel @many(%x: tensor<10x4096xf32>) -> tensor<4096xf32> {
  %0 = te.compute "sum" axes [4096] reduce [] init [] {
  ^bb0(%i: index):
    %c0 = arith.constant 0 : index
    %v0 = te.load %x[%c0, %i] : tensor<10x4096xf32> -> f32
    %c1 = arith.constant 1 : index
    %v1 = te.load %x[%c1, %i] : tensor<10x4096xf32> -> f32
    %c2 = arith.constant 2 : index
    %v2 = te.load %x[%c2, %i] : tensor<10x4096xf32> -> f32
    %c3 = arith.constant 3 : index
    %v3 = te.load %x[%c3, %i] : tensor<10x4096xf32> -> f32
    %c4 = arith.constant 4 : index
    %v4 = te.load %x[%c4, %i] : tensor<10x4096xf32> -> f32
    %c5 = arith.constant 5 : index
    %v5 = te.load %x[%c5, %i] : tensor<10x4096xf32> -> f32
    %c6 = arith.constant 6 : index
    %v6 = te.load %x[%c6, %i] : tensor<10x4096xf32> -> f32
    %c7 = arith.constant 7 : index
    %v7 = te.load %x[%c7, %i] : tensor<10x4096xf32> -> f32
    %c8 = arith.constant 8 : index
    %v8 = te.load %x[%c8, %i] : tensor<10x4096xf32> -> f32
    %c9 = arith.constant 9 : index
    %v9 = te.load %x[%c9, %i] : tensor<10x4096xf32> -> f32
    %s1 = arith.addf %v0, %v1 : f32
    %s2 = arith.addf %s1, %v2 : f32
    %s3 = arith.addf %s2, %v3 : f32
    %s4 = arith.addf %s3, %v4 : f32
    %s5 = arith.addf %s4, %v5 : f32
    %s6 = arith.addf %s5, %v6 : f32
    %s7 = arith.addf %s6, %v7 : f32
    %s8 = arith.addf %s7, %v8 : f32
    %s9 = arith.addf %s8, %v9 : f32
    te.yield %s9 : f32
  } combine {} : tensor<4096xf32>
  te.return %0 : tensor<4096xf32>
}
