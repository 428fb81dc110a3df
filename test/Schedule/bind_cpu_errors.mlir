// RUN: fusion-opt %s --fusion-attach-target='name=x86-64-v3' --te-lower --split-input-file --verify-diagnostics

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
  // expected-error @+1 {{binds a loop of stage "y" to the blocks or threads of a GPU, which x86-64-v3, a CPU, has not; use te.parallel, te.vectorize or te.unroll}}
  te.bind %i to block_x
}
