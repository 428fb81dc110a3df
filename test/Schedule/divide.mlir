// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The rest is computed by loops of its own, which have another schedule, into the same memory.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<100xf32> {llvm.noalias}, %[[Y:.*]]: memref<100xf32>
// CHECK-NOT:     memref.view
// CHECK:         loop.for 64 serial
// CHECK:           loop.load %[[X]]
// CHECK:           loop.store %{{.*}}, %[[Y]]
// CHECK:         loop.for 9 serial
// CHECK:           loop.for 4 vectorized
// CHECK:             %[[I:.*]] = affine.apply #{{.*}}
// CHECK:             loop.load %[[X]][%[[I]]]
// CHECK:             loop.store %{{.*}}, %[[Y]]
te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "square" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<100xf32>
  te.return %0 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "square"
  %i = te.axes %s : !te.axis
  %r = te.divide %i at 64 as "rest"
  %j = te.axes %r : !te.axis
  %o, %n = te.split %j by 4
  te.vectorize %n
}

// -----

// A sum that is computed in its epilogue before the place, and in parts behind it: these are kept for the rest alone, 4 rows of 10.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    memref<240xf32> {llvm.noalias}, %[[Y:.*]]: memref<10xf32>
// CHECK:         %[[P:.*]] = memref.view {{.*}} to memref<16xf32>
// CHECK:         loop.for 4 serial
// CHECK:           loop.for 4 serial
// CHECK:             loop.for 6 serial
// CHECK:             loop.store %{{.*}}, %[[P]]
// CHECK:         loop.for 6 serial
// CHECK:           loop.for 24 serial
// CHECK:           arith.mulf
// CHECK:           loop.store %{{.*}}, %[[Y]]
// CHECK:         loop.for 4 serial
// CHECK:           loop.for 4 serial
// CHECK:             loop.load %[[P]]
// CHECK:           arith.mulf
// CHECK:           loop.store %{{.*}}, %[[Y]]
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10xf32> {
  %0 = te.compute "sum" axes [10] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<10xf32>
  %1 = te.compute "square" axes [10] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<10xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<10xf32>
  te.return %1 : tensor<10xf32>
}
te.schedule for @k {
  %s = te.stage "square"
  %c = te.stage "sum"
  %i = te.axes %s : !te.axis
  %r = te.divide %i at 6 as "rest"
  %d = te.recompute %c as "rest_of_sum" for %r
  te.compute_at %c, %i
  %e, %k = te.axes %d : !te.axis, !te.axis
  %ko, %ki = te.split %k by 6
  %p = te.rfactor %ko as "parts"
  %j = te.axes %r : !te.axis
  te.compute_at %d, %j
}

// -----

// What is inlined between a stage and its reader is copied with it.
// CHECK-LABEL: func.func private @k(
// CHECK-COUNT-2: math.exp
// CHECK-NOT:     math.exp
te.kernel @k(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = te.compute "exp" axes [10] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<10xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<10xf32>
  %1 = te.compute "twice" axes [10] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<10xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<10xf32>
  %2 = te.compute "square" axes [10] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %1[%i] : tensor<10xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<10xf32>
  te.return %2 : tensor<10xf32>
}
te.schedule for @k {
  %s = te.stage "square"
  %t = te.stage "twice"
  %c = te.stage "exp"
  te.compute_inline %t
  %i = te.axes %s : !te.axis
  %r = te.divide %i at 6 as "rest"
  %d = te.recompute %c as "other" for %r
}
