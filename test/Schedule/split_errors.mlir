// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

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
  // expected-error @+1 {{violates constraint C1: the factor must be above 0, found 0}}
  %o, %n = te.split %j by 0
}

// -----

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
  te.vectorize %j
  // expected-error @+1 {{splits a loop of stage "y" that is annotated already; split it first}}
  %o, %n = te.split %j by 4
}

// -----

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
  %o, %n = te.split %j by 4
  // expected-error @+1 {{names a loop of stage "y" that was split or fused away}}
  te.unroll %j
}
