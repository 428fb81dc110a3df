// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_80' --te-lower --split-input-file --verify-diagnostics

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
  %o, %n = te.split %j by 2000 tail guard
  // expected-error @+1 {{binds a loop of 2000 iterations of stage "y" of kernel @k to threads, but a block of sm_80 has at most 1024; split it by 1024 or less first}}
  te.bind %n to thread_x
}
