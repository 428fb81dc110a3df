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
