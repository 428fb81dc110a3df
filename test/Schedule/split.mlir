// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// What is left over is a nest of its own.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 3 serial
// CHECK:           loop.for 7 serial
// CHECK:         loop.for 3 serial
// CHECK-NOT:       loop.for
// CHECK:           loop.store
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
  %o, %n = te.split %j by 7
}

// -----

// Where the inner loop stands outside the outer one, a guard keeps the end.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 7 serial
// CHECK:         loop.for 4 serial
// CHECK:           loop.guard
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
  %o, %n = te.split %j by 7
  te.reorder %n, %o
}

// -----

// Where the outer loop is split again, what is left over is behind the last of its blocks: 38 = 5 * 7 + 3, and those are 3 * 2.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 2 serial
// CHECK:         loop.for 2 serial
// CHECK:           loop.for 7 serial
// CHECK:       loop.for 7 serial
// CHECK:       loop.for 3 serial
// CHECK-NOT:   loop.guard
// CHECK:       return
te.kernel @k(%x: tensor<38xf32>) -> tensor<38xf32> {
  %0 = te.compute "y" axes [38] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<38xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<38xf32>
  te.return %0 : tensor<38xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i = te.axes %y : !te.axis
  %o, %n = te.split %i by 7
  %oo, %oi = te.split %o by 2
}

// -----

// 45 = 6 * 7 + 3, and those are 2 * 3 + 1: the last block of all is what is left over of both.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 2 serial
// CHECK:         loop.for 3 serial
// CHECK:           loop.for 7 serial
// CHECK:       loop.for 3 serial
// CHECK-NOT:   loop.{{for|guard}}
// CHECK:       return
te.kernel @k(%x: tensor<45xf32>) -> tensor<45xf32> {
  %0 = te.compute "y" axes [45] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<45xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<45xf32>
  te.return %0 : tensor<45xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i = te.axes %y : !te.axis
  %o, %n = te.split %i by 7
  %oo, %oi = te.split %o by 3
}
