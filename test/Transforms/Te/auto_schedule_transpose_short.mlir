// RUN: fusion-opt %s --te-schedule | FileCheck %s
// RUN: fusion-opt %s --te-schedule --te-lower --loop-vectorize --canonicalize --cse --loop-unroll --canonicalize --cse --loop-transpose | FileCheck %s --check-prefix=LOOPS

// Rows of 4 bytes: vectors go along the other axis, and 4 of them are interleaved to one that is stored.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[AXES:.*]]:2 = te.axes
// CHECK:         %{{.*}}, %[[PIXELS:.*]] = te.split %[[AXES]]#0 by 16
// CHECK:         te.unroll %[[AXES]]#1
// CHECK:         te.vectorize %[[PIXELS]]

// LOOPS-COUNT-4: loop.load {{.*}} -> vector<16xi8>
// LOOPS:         loop.store %{{.*}} : vector<64xi8>, memref<256xi8>
te.kernel @k(%x: tensor<4x64xi8>) -> tensor<64x4xi8> {
  %0 = te.compute "transpose" axes [64, 4] reduce [] init [] {
  ^bb0(%i: index, %c: index):
    %v = te.load %x[%c, %i] : tensor<4x64xi8> -> i8
    te.yield %v : i8
  } combine {} : tensor<64x4xi8>
  te.return %0 : tensor<64x4xi8>
}
