// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// One element is a value: nothing is stored between the sum and its epilogue.
// CHECK-LABEL: func.func private @k(
// CHECK-NOT:   memref.view
// CHECK:       loop.for 6 serial
// CHECK:         %[[S:.*]] = loop.for 24 serial iter
// CHECK:         arith.maximumf %[[S]]
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
te.schedule for @k {
  %r = te.stage "relu"
  %i = te.axes %r : !te.axis
  %s = te.stage "sum"
  te.compute_at %s, %i
}

// -----

// Three outputs need five inputs: bounds follow from the reads.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 6 serial
// CHECK:         loop.alloc local : memref<5xf32>
// CHECK:         loop.for 5 serial
// CHECK:         loop.for 3 serial
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
  %b = te.stage "blur"
  %i = te.axes %b : !te.axis
  %o, %n = te.split %i by 3
  %s = te.stage "twice"
  te.compute_at %s, %o
}
