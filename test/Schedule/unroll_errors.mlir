// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<10x240xf32>) -> tensor<10x240xf32> {
  %0 = te.compute "y" axes [10, 240] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x240xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x240xf32>
  te.return %0 : tensor<10x240xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  // expected-error @+1 {{unrolls a loop of 240 iterations, at most 64 are copied; split it first}}
  te.unroll %j
}
