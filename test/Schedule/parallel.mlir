// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @k
// CHECK:       loop.for 10 parallel
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
  te.parallel %i
}
