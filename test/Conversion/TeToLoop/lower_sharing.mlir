// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// What is left over of rows in blocks is an iteration of the loop that threads share; its buffer is that of the others.

// CHECK-LABEL: func.func private @rows
// CHECK:         loop.for 10 parallel {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK:           %[[MOST:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : index
// CHECK-NEXT:      %[[BUFFER:.*]] = loop.alloc local : memref<6656xf32>
// CHECK-NEXT:      loop.guard %[[MOST]] {
// CHECK:             loop.for 13 serial
// CHECK:               loop.store %{{.*}}, %[[BUFFER]]
// CHECK:             loop.for 13 serial
// CHECK:               loop.load %[[BUFFER]]
// CHECK:           %[[LAST:.*]] = arith.cmpi sge, %[[I]], %{{.*}} : index
// CHECK-NEXT:      loop.guard %[[LAST]] {
// CHECK:             loop.for 11 serial
// CHECK:               loop.store %{{.*}}, %[[BUFFER]]
// CHECK:             loop.for 11 serial
// CHECK:               loop.load %[[BUFFER]]
// CHECK-NOT:     loop.alloc
// CHECK:         return
te.kernel @rows(%x: tensor<128x512xf32>) -> tensor<128x512xf32> {
  %0 = te.compute "e" axes [128, 512] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<128x512xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<128x512xf32>
  %1 = te.compute "y" axes [128, 512] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<128x512xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<128x512xf32>
  te.return %1 : tensor<128x512xf32>
}
te.schedule for @rows {
  %e = te.stage "e"
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %io, %ii = te.split %i by 13
  te.parallel %io
  te.compute_at %e, %io
}

// -----

// A loop around nothing but lanes stays in parts.

// CHECK-LABEL: func.func private @lanes
// CHECK:         loop.for 2 parallel
// CHECK-NOT:     loop.guard
// CHECK:         return
te.kernel @lanes(%x: tensor<40xf32>) -> tensor<40xf32> {
  %0 = te.compute "y" axes [40] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<40xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<40xf32>
  te.return %0 : tensor<40xf32>
}
te.schedule for @lanes {
  %y = te.stage "y"
  %i = te.axes %y : !te.axis
  %io, %ii = te.split %i by 16
  te.vectorize %ii
  te.parallel %io
}
