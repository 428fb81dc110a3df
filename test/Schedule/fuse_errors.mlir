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
  // expected-error @+1 {{which are not neighbours; reorder them first}}
  %f = te.fuse %j, %i
}

// -----

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{fuses a parallel axis and a reduction axis of stage "sum"}}
  %f = te.fuse %i, %k
}

// -----

te.kernel @k(%x: tensor<1xf32>) -> tensor<4294967296x4294967296xf32> {
  %0 = te.compute "y" axes [4294967296, 4294967296] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %z = arith.constant 0 : index
    %a = te.load %x[%z] : tensor<1xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<4294967296x4294967296xf32>
  te.return %0 : tensor<4294967296x4294967296xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  // expected-error @+1 {{fuses loops of 4294967296 and 4294967296 iterations of stage "y", which are more together than can be counted}}
  %f = te.fuse %i, %j
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "twice" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %twice = te.stage "twice"
  %i, %j = te.axes %y : !te.axis, !te.axis
  te.compute_at %twice, %i
  // expected-error @+1 {{fuses a loop of stage "y" that stage "twice" is computed at; fuse it first}}
  %f = te.fuse %i, %j
}
