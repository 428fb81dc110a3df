// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// At most five parts of 24 iterations: four of five and a last one of four.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 4 serial
// CHECK:           loop.for 5 serial
// CHECK:         loop.for 4 serial
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
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %o, %n = te.split %j parts 5
}

// -----

// A guard in each iteration where it is asked for.
// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 4 serial
// CHECK:           loop.for 7 serial
// CHECK:             %[[IN:.*]] = arith.cmpi slt
// CHECK:             loop.guard %[[IN]]
// CHECK:               loop.store
// CHECK-NOT:   loop.store
// CHECK:       return
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %o, %n = te.split %j by 7 tail guard
}

// -----

// Peeled, or an error: here it can be.
// CHECK-LABEL: func.func private @k
// CHECK:         loop.for 3 serial
// CHECK:           loop.for 7 serial
// CHECK:         loop.for 3 serial
// CHECK-NOT:     loop.guard
// CHECK:       return
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %0 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %o, %n = te.split %j by 7 tail peel
}

// -----

// Rounded up to whole blocks of 16: rows of 32 in the buffer, loads beyond the 24 columns give 0, nobody reads those.
// CHECK-LABEL: func.func private @k
// CHECK:       %[[A:.*]] = memref.view %{{.*}} to memref<320xf32>
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 2 serial
// CHECK:           loop.for 16 serial
// CHECK:             %[[IN:.*]] = arith.cmpi slt
// CHECK:             %[[V:.*]] = loop.guard %[[IN]] else(%{{.*}} : f32)
// CHECK:             %[[S:.*]] = arith.addf %[[V]], %[[V]]
// CHECK:             loop.store %[[S]], %[[A]]
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 24 serial
// CHECK:           loop.load %[[A]]
te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  %ai, %aj = te.axes %a : !te.axis, !te.axis
  %o, %n = te.split %aj by 16 tail pad
}
