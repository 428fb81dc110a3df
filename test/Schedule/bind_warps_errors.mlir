// RUN: fusion-opt %s --fusion-attach-target='name=nvidia:sm_80' --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<6x48xf32>) -> tensor<6x48xf32> {
  %0 = te.compute "twice" axes [6, 48] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<6x48xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<6x48xf32>
  te.return %0 : tensor<6x48xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i, %j = te.axes %s : !te.axis, !te.axis
  te.bind %i to warp
  // expected-error @+1 {{binds a loop of 48 iterations of stage "twice" of kernel @k to lanes, but a warp of sm_80 has 32 lanes; split it by 32 or less first}}
  te.bind %j to lane
}

// -----

te.kernel @k(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = te.compute "twice" axes [64, 32] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<64x32xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<64x32xf32>
  te.return %0 : tensor<64x32xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{binds a loop of 64 iterations of stage "twice" of kernel @k to warps, but a block of sm_80 has at most 32, 1024 threads by 32; split it by 32 or less first}}
  te.bind %i to warp
}

// -----

// A warp is a row of threads, a lane one of a row.
te.kernel @k(%x: tensor<6x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "twice" axes [6, 32] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<6x32xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.schedule for @k {
  %s = te.stage "twice"
  %i, %j = te.axes %s : !te.axis, !te.axis
  te.bind %i to thread_x
  // expected-error @+1 {{binds two loops of stage "twice" to the same blocks or threads}}
  te.bind %j to lane
}

// -----

te.kernel @k(%x: tensor<6x32xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [32] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x32xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  te.return %0 : tensor<6xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{shares a reduction of stage "sum" among warps, which cannot exchange what they have; bind the loop to lane or to thread_x}}
  te.bind %k to warp
}
