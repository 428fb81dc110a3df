// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The loop is cut where the condition changes: at both ends there is nothing to ask, and nothing to load.
// CHECK-LABEL: func.func private @k(
// CHECK-NOT:     loop.guard
// CHECK:         loop.store %{{.*}}, %arg1
// CHECK:         loop.for 8 serial
// CHECK-NOT:       arith.cmpi
// CHECK:           loop.load %arg0
// CHECK:           loop.store %{{.*}}, %arg1
// CHECK:         loop.for 3 serial
// CHECK-NOT:       loop.load
// CHECK:           loop.store %{{.*}}, %arg1
// CHECK-NOT:     loop.guard
// CHECK:         return
te.kernel @k(%x: tensor<8xf32>) -> tensor<12xf32> {
  %0 = te.compute "pad" axes [12] reduce [] init [] {
  ^bb0(%i: index):
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %eight = arith.constant 8 : index
    %z = arith.constant 0.0 : f32
    %at = arith.subi %i, %one : index
    %a = arith.cmpi sge, %at, %zero : index
    %b = arith.cmpi slt, %at, %eight : index
    %c = arith.andi %a, %b : i1
    %e = te.load_if %c, %x[%at] else %z : tensor<8xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<12xf32>
  te.return %0 : tensor<12xf32>
}

// -----

// A vector is not cut: its lanes ask.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 12 vectorized
// CHECK:           loop.guard %{{.*}} else(%{{.*}} : f32)
// CHECK:             loop.load %arg0
te.kernel @k(%x: tensor<8xf32>) -> tensor<12xf32> {
  %0 = te.compute "pad" axes [12] reduce [] init [] {
  ^bb0(%i: index):
    %eight = arith.constant 8 : index
    %z = arith.constant 0.0 : f32
    %c = arith.cmpi slt, %i, %eight : index
    %e = te.load_if %c, %x[%i] else %z : tensor<8xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<12xf32>
  te.return %0 : tensor<12xf32>
}
te.schedule for @k {
  %s = te.stage "pad"
  %i = te.axes %s : !te.axis
  te.vectorize %i
}

// -----

// Conditions that data decides are asked in each iteration.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 8 serial
// CHECK:           loop.guard %{{.*}} else(%{{.*}} : f32)
// CHECK:             loop.load %arg0
te.kernel @k(%x: tensor<8xf32>, %y: tensor<8xi1>) -> tensor<8xf32> {
  %0 = te.compute "y" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %z = arith.constant 0.0 : f32
    %c = te.load %y[%i] : tensor<8xi1> -> i1
    %e = te.load_if %c, %x[%i] else %z : tensor<8xf32> -> f32
    te.yield %e : f32
  } combine {} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}
