// RUN: fusion-opt %s --te-schedule=vector-bytes=64 --split-input-file | FileCheck %s
// RUN: fusion-opt %s --te-schedule=vector-bytes=64 --te-lower --split-input-file | FileCheck %s --check-prefix=LOOPS

// Rows of three: 32 of them are six vectors, each with sums of its own. The whole blocks ask nothing, the last one is masked.
// CHECK-LABEL: te.schedule for @sum
// CHECK:         %[[S:.*]] = te.stage "sum"
// CHECK:         %[[A:.*]]:2 = te.axes %[[S]]
// CHECK:         %{{.*}}, %[[R:.*]] = te.split %[[A]]#1 by 32
// CHECK:         %[[P:.*]] = te.rfactor %[[R]] as "rows_of_sum"
// CHECK:         te.transform_layout %[[P]]
// CHECK:         %[[B:.*]]:3 = te.axes %[[P]]
// CHECK:         %[[L:.*]] = te.fuse %[[B]]#1, %[[B]]#0
// CHECK:         %[[O:.*]], %[[V:.*]] = te.split %[[L]] by 16
// CHECK:         te.unroll %[[O]]
// CHECK:         te.vectorize %[[V]]
// CHECK:         te.split %[[B]]#2 by 31
// LOOPS-LABEL: func.func private @sum(
// LOOPS:         loop.for 6 unrolled
// LOOPS:           loop.for 16 vectorized
// LOOPS:             loop.for 31 serial iter
// LOOPS-NOT:           loop.guard
// LOOPS:               loop.yield
// LOOPS:             loop.guard
te.kernel @sum(%x: tensor<1003x3xf32>) -> tensor<3xf32> {
  %0 = te.compute "sum" axes [3] reduce [1003] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %a = te.load %x[%k, %j] : tensor<1003x3xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<3xf32>
  te.return %0 : tensor<3xf32>
}

// -----

// The greatest of several batches: the partial ones are computed where they are combined.
// CHECK-LABEL: te.schedule for @max
// CHECK:         te.rfactor %{{.*}} as "rows_of_max"
// CHECK:         te.compute_at
te.kernel @max(%x: tensor<5x1024x8xf32>) -> tensor<5x8xf32> {
  %0 = te.compute "max" axes [5, 8] reduce [1024] init [0xFF800000 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k, %j] : tensor<5x1024x8xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.maximumf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x8xf32>
  te.return %0 : tensor<5x8xf32>
}

// -----

// What is subtracted is the same for all rows, so that they are none that follow each other.
// CHECK-LABEL: te.schedule for @centred
// CHECK-NOT:     te.rfactor
te.kernel @centred(%x: tensor<1003x3xf32>, %m: tensor<3xf32>) -> tensor<3xf32> {
  %0 = te.compute "sum" axes [3] reduce [1003] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %a = te.load %x[%k, %j] : tensor<1003x3xf32> -> f32
    %b = te.load %m[%j] : tensor<3xf32> -> f32
    %c = arith.subf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  } : tensor<3xf32>
  te.return %0 : tensor<3xf32>
}
