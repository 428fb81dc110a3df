// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Two readers, of which the second one computes the stage where it needs it.
// CHECK-LABEL: func.func private @k(
// CHECK:         %[[C:.*]] = memref.view {{.*}} to memref<100xf32>
// CHECK:         loop.for 100 serial
// CHECK:           math.exp
// CHECK:           loop.store %{{.*}}, %[[C]]
// CHECK:         loop.for 100 serial
// CHECK:           loop.load %[[C]]
// CHECK:           arith.addf
// CHECK:         loop.for 100 serial
// CHECK:           math.exp
// CHECK:           arith.mulf
te.kernel @k(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %0 = te.compute "exp" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<100xf32>
  %1 = te.compute "twice" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<100xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<100xf32>
  %2 = te.compute "square" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<100xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<100xf32>
  te.return %1, %2 : tensor<100xf32>, tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "exp"
  %t = te.stage "square"
  %c = te.recompute %s as "own" for %t
  %i = te.axes %t : !te.axis
  te.compute_at %c, %i
}

// -----

// What lies in a part of an axis is read from a stage of its own, also through a stage that is inlined; either is computed as far as it is read.
// CHECK-LABEL: func.func private @parts(
// CHECK:         %[[FIRST:.*]] = memref.view {{.*}} to memref<100xf32>
// CHECK:         %[[SECOND:.*]] = memref.view {{.*}} to memref<100xf32>
// CHECK:         loop.for 100 serial
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK-NEXT:      loop.load %{{.*}}[%[[I]]]
// CHECK:           loop.store %{{.*}}, %[[FIRST]]
// CHECK:         loop.for 100 serial
// CHECK:           affine.apply
// CHECK:           math.exp
// CHECK:           loop.store %{{.*}}, %[[SECOND]]
// CHECK:         loop.for 100 serial
// CHECK:           loop.load %[[FIRST]]
// CHECK:           loop.load %[[SECOND]]
// CHECK:           arith.mulf
te.kernel @parts(%x: tensor<200xf32>) -> tensor<100xf32> {
  %0 = te.compute "exp" axes [200] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<200xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {
  } : tensor<200xf32>
  %1 = te.compute "copy" axes [200] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<200xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<200xf32>
  %2 = te.compute "gated" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %c = arith.constant 100 : index
    %j = arith.addi %i, %c : index
    %a = te.load %1[%i] : tensor<200xf32> -> f32
    %b = te.load %1[%j] : tensor<200xf32> -> f32
    %d = arith.mulf %a, %b : f32
    te.yield %d : f32
  } combine {
  } : tensor<100xf32>
  te.return %2 : tensor<100xf32>
}
te.schedule for @parts {
  %s = te.stage "exp"
  %t = te.stage "copy"
  te.compute_inline %t
  %g = te.stage "gated"
  %c = te.recompute %s as "gate" for %g part [0, 100, 200]
}
