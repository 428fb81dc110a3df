// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Four partial sums of six elements each, a lane each; then their sum.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<144xf32> {llvm.noalias}, %[[Y:.*]]: memref<6xf32>
// CHECK:         %[[P:.*]] = memref.view {{.*}} to memref<24xf32>
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 4 vectorized
// CHECK:             loop.for 6 serial iter
// CHECK:               loop.load %[[X]]
// CHECK:               arith.addf
// CHECK:               loop.store %{{.*}}, %[[P]]
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 4 serial
// CHECK:             loop.load %[[P]]
// CHECK:             arith.addf
// CHECK:           loop.store %{{.*}}, %[[Y]]
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
  te.return %0 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %ko, %ki = te.split %k by 4
  %p = te.rfactor %ki as "partial"
  %pi, %lane, %step = te.axes %p : !te.axis, !te.axis, !te.axis
  te.reorder %pi, %step, %lane
  te.vectorize %lane
}

// -----

// The loop over blocks, computed where the partial results are combined; what read the sums reads the combined ones.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 6 serial
// CHECK:           %[[P:.*]] = loop.alloc local : memref<3xf32>
// CHECK:           loop.for 3 serial
// CHECK:             loop.for 8 serial
// CHECK:           loop.for 3 serial
// CHECK:         arith.mulf
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
  %1 = te.compute "square" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %ko, %ki = te.split %k by 8
  %p = te.rfactor %ko as "partial"
  %j, %r = te.axes %s : !te.axis, !te.axis
  te.compute_at %p, %j
}

// -----

// One of two reduction axes, of a maximum of integers.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 5 serial
// CHECK:           loop.for 7 serial
// CHECK:             arith.maxsi
// CHECK:         loop.for 5 serial
// CHECK:           arith.maxsi
te.kernel @k(%x: tensor<7x5xi32>) -> tensor<i32> {
  %0 = te.compute "max" axes [] reduce [7, 5] init [-2147483648 : i32] {
  ^bb0(%k: index, %l: index):
    %a = te.load %x[%k, %l] : tensor<7x5xi32> -> i32
    te.yield %a : i32
  } combine {
  ^bb0(%p: i32, %q: i32):
    %m = arith.maxsi %p, %q : i32
    te.yield %m : i32
  } : tensor<i32>
  te.return %0 : tensor<i32>
}
te.schedule for @k {
  %s = te.stage "max"
  %k, %l = te.axes %s : !te.axis, !te.axis
  %p = te.rfactor %l as "partial"
}

// -----

// The least element with its place: both results are partial ones.
// CHECK-LABEL: func.func private @k(
// CHECK-DAG:     memref.view {{.*}} to memref<4xf32>
// CHECK-DAG:     memref.view {{.*}} to memref<4xi64>
// CHECK:         loop.for 4 serial
// CHECK:           loop.for 6 serial
// CHECK:             arith.select
// CHECK:         loop.for 4 serial
// CHECK:           arith.select
te.kernel @k(%x: tensor<24xf32>) -> tensor<i64> {
  %0, %1 = te.compute "least" axes [] reduce [24] init [0x7F800000 : f32, 9223372036854775807 : i64] {
  ^bb0(%k: index):
    %a = te.load %x[%k] : tensor<24xf32> -> f32
    %i = arith.index_cast %k : index to i64
    te.yield %a, %i : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %less = arith.cmpf olt, %b, %a : f32
    %same = arith.cmpf oeq, %b, %a : f32
    %first = arith.cmpi slt, %j, %i : i64
    %tie = arith.andi %same, %first : i1
    %take = arith.ori %less, %tie : i1
    %c = arith.select %take, %b, %a : f32
    %l = arith.select %take, %j, %i : i64
    te.yield %c, %l : f32, i64
  } : tensor<f32>, tensor<i64>
  te.return %1 : tensor<i64>
}
te.schedule for @k {
  %s = te.stage "least"
  %k = te.axes %s : !te.axis
  %ko, %ki = te.split %k by 4
  %p = te.rfactor %ki as "partial"
}

// -----

// Blocks that go beyond the end: nothing is read there, and 0 is added. The whole blocks ask nothing.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 4 vectorized
// CHECK:             loop.for 5 serial iter
// CHECK-NOT:           loop.guard
// CHECK:               loop.yield
// CHECK:             %[[IN:.*]] = arith.cmpi slt
// CHECK:             loop.guard %[[IN]] else(%{{.*}} : f32)
// CHECK-NEXT:          affine.apply
// CHECK-NEXT:          loop.load
// CHECK-NEXT:          loop.yield
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 4 serial
te.kernel @k(%x: tensor<6x23xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [23] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x23xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  te.return %0 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %ko, %ki = te.split %k by 4
  %p = te.rfactor %ki as "partial"
  %pi, %lane, %step = te.axes %p : !te.axis, !te.axis, !te.axis
  %rest, %whole = te.split %step by 5
  te.vectorize %lane
}

// -----

// The loop over blocks, of an exponential: what is beyond the end is 0, not exp(0). Only the last block asks.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 5 serial
// CHECK:           loop.for 4 serial
// CHECK-NOT:         loop.guard
// CHECK:             math.exp
// CHECK:         loop.for 4 serial
// CHECK:           %[[IN:.*]] = arith.cmpi slt
// CHECK:           loop.guard %[[IN]]
// CHECK:           %[[E:.*]] = math.exp
// CHECK:           arith.select %[[IN]], %[[E]]
te.kernel @k(%x: tensor<23xf32>) -> tensor<f32> {
  %0 = te.compute "sum" axes [] reduce [23] init [0.0 : f32] {
  ^bb0(%k: index):
    %a = te.load %x[%k] : tensor<23xf32> -> f32
    %e = math.exp %a : f32
    te.yield %e : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<f32>
  te.return %0 : tensor<f32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %k = te.axes %s : !te.axis
  %ko, %ki = te.split %k by 4
  %p = te.rfactor %ko as "partial"
}

// -----

// Integers that are divided: by 1 where nothing was read. A load with a condition of its own asks for both.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 4 unrolled
// CHECK:           loop.for 6 serial
// CHECK:             %[[IN:.*]] = arith.cmpi slt
// CHECK:             %[[BOTH:.*]] = arith.andi %[[IN]], %{{.*}} : i1
// CHECK:             %[[D:.*]] = loop.guard %[[BOTH]]
// CHECK:             %[[SAFE:.*]] = arith.select %[[IN]], %[[D]], %{{.*}} : i32
// CHECK:             %[[Q:.*]] = arith.divsi %{{.*}}, %[[SAFE]]
// CHECK:             arith.select %[[IN]], %[[Q]]
te.kernel @k(%x: tensor<23xi32>) -> tensor<i32> {
  %0 = te.compute "sum" axes [] reduce [23] init [0 : i32] {
  ^bb0(%k: index):
    %n = arith.constant 100 : i32
    %c0 = arith.constant 0 : index
    %first = arith.cmpi sgt, %k, %c0 : index
    %a = te.load_if %first, %x[%k] else %n : tensor<23xi32> -> i32
    %q = arith.divsi %n, %a : i32
    te.yield %q : i32
  } combine {
  ^bb0(%p: i32, %q: i32):
    %m = arith.addi %p, %q : i32
    te.yield %m : i32
  } : tensor<i32>
  te.return %0 : tensor<i32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %k = te.axes %s : !te.axis
  %ko, %ki = te.split %k by 4
  %p = te.rfactor %ki as "partial"
  %pi, %step = te.axes %p : !te.axis, !te.axis
  te.unroll %pi
}

// -----

// The least element with its place: beyond the end there are the neutral elements of both.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 3 serial
// CHECK:           loop.for 6 serial
// CHECK-NOT:         loop.guard
// CHECK:         loop.for 6 serial
// CHECK:           %[[IN:.*]] = arith.cmpi slt
// CHECK:           loop.guard %[[IN]]
// CHECK:           arith.select %[[IN]], %{{.*}} : i64
// CHECK:         loop.for 4 serial
te.kernel @k(%x: tensor<23xf32>) -> tensor<i64> {
  %0, %1 = te.compute "least" axes [] reduce [23] init [0x7F800000 : f32, 9223372036854775807 : i64] {
  ^bb0(%k: index):
    %a = te.load %x[%k] : tensor<23xf32> -> f32
    %i = arith.index_cast %k : index to i64
    te.yield %a, %i : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %less = arith.cmpf olt, %b, %a : f32
    %same = arith.cmpf oeq, %b, %a : f32
    %first = arith.cmpi slt, %j, %i : i64
    %tie = arith.andi %same, %first : i1
    %take = arith.ori %less, %tie : i1
    %c = arith.select %take, %b, %a : f32
    %l = arith.select %take, %j, %i : i64
    te.yield %c, %l : f32, i64
  } : tensor<f32>, tensor<i64>
  te.return %1 : tensor<i64>
}
te.schedule for @k {
  %s = te.stage "least"
  %k = te.axes %s : !te.axis
  %ko, %ki = te.split %k by 4
  %p = te.rfactor %ki as "partial"
}

// -----

// Without te.rfactor, nothing changes.
// CHECK-LABEL: func.func private @k(
// CHECK-NOT:     loop.alloc
// CHECK:         loop.for 24 serial
te.kernel @k(%x: tensor<24xf32>) -> tensor<f32> {
  %0 = te.compute "sum" axes [] reduce [24] init [0.0 : f32] {
  ^bb0(%k: index):
    %a = te.load %x[%k] : tensor<24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<f32>
  te.return %0 : tensor<f32>
}
te.schedule for @k {
  %s = te.stage "sum"
}
