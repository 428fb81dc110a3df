// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Two buffers of five outside of the loop, which take turns.
// CHECK: #[[TURN:.*]] = affine_map<(d0, d1) -> (d0 + (d1 mod 2) * 5)>
// CHECK-LABEL: func.func private @k(
// CHECK:       %[[A:.*]] = loop.alloc local : memref<10xf32>
// CHECK:       loop.for 6 serial
// CHECK-NEXT:  ^bb0(%[[O:.*]]: index):
// CHECK:         loop.for 5 serial
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK:           %[[AT:.*]] = affine.apply #[[TURN]](%[[I]], %[[O]])
// CHECK:           loop.store %{{.*}}, %[[A]][%[[AT]]]
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
  te.double_buffer %t
}

// -----

// Four of them, in shared memory.
// CHECK-LABEL: func.func private @four(
// CHECK:         %[[A:.*]] = loop.alloc shared slots 4 : memref<20xf32>
// CHECK:         loop.for 6 serial
te.kernel @four(%x: tensor<20xf32>) -> tensor<18xf32> {
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
te.schedule for @four {
  %s = te.stage "blur"
  %i = te.axes %s : !te.axis
  %o, %n = te.split %i by 3
  %t = te.stage "twice"
  te.compute_at %t, %o
  te.set_scope %t to shared
  te.double_buffer %t by 4
}
