// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// The fused index flattens to itself: no quotient is left.
// CHECK-NOT:   floordiv
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 240 serial
// CHECK-NEXT:  ^bb0(%[[F:.*]]: index):
// CHECK-NEXT:    loop.load %{{.*}}[%[[F]]]
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %f = te.fuse %i, %j
}

// -----

// What is computed at the second loop is then computed at the one over both.
// CHECK-LABEL: func.func private @attached
// CHECK:       loop.for 3 parallel
// CHECK-NOT:   loop.for 3
// CHECK:         memref<24xf32
// CHECK:         loop.for 24 serial
// CHECK:         loop.for 24 serial
te.kernel @attached(%x: tensor<3x1x24xf32>) -> tensor<3x1x24xf32> {
  %0 = te.compute "twice" axes [3, 1, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %j, %k] : tensor<3x1x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<3x1x24xf32>
  %1 = te.compute "y" axes [3, 1, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %0[%i, %j, %k] : tensor<3x1x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<3x1x24xf32>
  te.return %1 : tensor<3x1x24xf32>
}
te.schedule for @attached {
  %y = te.stage "y"
  %twice = te.stage "twice"
  %i, %j, %k = te.axes %y : !te.axis, !te.axis, !te.axis
  te.compute_at %twice, %j
  %f = te.fuse %i, %j
  te.parallel %f
}

// -----

// Parts of a split with something left over, fused and split again: no part has another number of inner iterations, a guard keeps the end.
// CHECK-LABEL: func.func private @again
// CHECK:       loop.for 7 serial
// CHECK:         loop.for 3 serial
// CHECK:           %[[END:.*]] = arith.constant 19 : index
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[END]] : index
// CHECK:           loop.guard %[[INSIDE]]
te.kernel @again(%x: tensor<19xf32>) -> tensor<19xf32> {
  %0 = te.compute "y" axes [19] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<19xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<19xf32>
  te.return %0 : tensor<19xf32>
}
te.schedule for @again {
  %y = te.stage "y"
  %i = te.axes %y : !te.axis
  %o, %n = te.split %i by 3
  %f = te.fuse %o, %n
  %p, %q = te.split %f by 3 tail guard
}
