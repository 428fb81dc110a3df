// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The buffer holds what all three iterations of the inner loop need, which each computes for itself.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 6 serial
// CHECK:         %[[A:.*]] = loop.alloc local : memref<5xf32>
// CHECK:         loop.for 3 serial
// CHECK:           loop.for 3 serial
// CHECK:             loop.store %{{.*}}, %[[A]]
// CHECK:           loop.load %[[A]]
// CHECK:           loop.load %[[A]]
te.kernel @k(%x: tensor<20xf32>) -> tensor<18xf32> {
  %0 = te.compute "twice" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20xf32>
  %1 = te.compute "blur" axes [18] reduce [] init [] {
  ^bb0(%i: index):
    %c2 = arith.constant 2 : index
    %i2 = arith.addi %i, %c2 : index
    %a = te.load %0[%i] : tensor<20xf32> -> f32
    %b = te.load %0[%i2] : tensor<20xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<18xf32>
  te.return %1 : tensor<18xf32>
}
te.schedule for @k {
  %s = te.stage "blur"
  %i = te.axes %s : !te.axis
  %o, %n = te.split %i by 3
  %t = te.stage "twice"
  te.compute_at %t, %n
  te.store_at %t, %o
}

// -----

// Without a loop it lives as long as the kernel runs, and holds the whole result.
// CHECK-LABEL: func.func private @k
// CHECK:       %[[A:.*]] = memref.view %{{.*}} to memref<20xf32>
// CHECK:       loop.for 6 serial
// CHECK:         loop.for 5 serial
// CHECK:           loop.store %{{.*}}, %[[A]]
// CHECK:         loop.for 3 serial
// CHECK:           loop.load %[[A]]
te.kernel @k(%x: tensor<20xf32>) -> tensor<18xf32> {
  %0 = te.compute "twice" axes [20] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<20xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<20xf32>
  %1 = te.compute "blur" axes [18] reduce [] init [] {
  ^bb0(%i: index):
    %c2 = arith.constant 2 : index
    %i2 = arith.addi %i, %c2 : index
    %a = te.load %0[%i] : tensor<20xf32> -> f32
    %b = te.load %0[%i2] : tensor<20xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<18xf32>
  te.return %1 : tensor<18xf32>
}
te.schedule for @k {
  %s = te.stage "blur"
  %i = te.axes %s : !te.axis
  %o, %n = te.split %i by 3
  %t = te.stage "twice"
  te.compute_at %t, %o
  te.store_at %t
}
