// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Kept on the loop, and on both of a loop that is cut.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 10 serial
// CHECK:         loop.for 3 serial
// CHECK:           loop.for 7 serial
// CHECK:           } {annotations = {factor = 4 : i64, pipeline}}
// CHECK:         loop.for 3 serial
// CHECK:         } {annotations = {factor = 4 : i64, pipeline}}
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
  %o, %n = te.split %j by 7
  te.annotate %n "factor" = 4 : i64
  te.annotate %n "pipeline" = unit
}
