// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<4x16xf32>) -> tensor<4xf32> {
  %0 = te.compute "e" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x16xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  %1 = te.compute "y" axes [4] reduce [16] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x16xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<4xf32>
  te.return %1 : tensor<4xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %i, %k = te.axes %y : !te.axis, !te.axis
  te.compute_at %e, %k
  // expected-error @+1 {{makes a pipeline of a reduction axis of stage "y", whose iterations go on with what the one before has summed up}}
  te.pipeline %k
}

// -----

te.kernel @k(%x: tensor<4x16xf32>) -> tensor<4xf32> {
  %0 = te.compute "e" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x16xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  %1 = te.compute "y" axes [4] reduce [16] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x16xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<4xf32>
  te.return %1 : tensor<4xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %i, %k = te.axes %y : !te.axis, !te.axis
  te.compute_at %e, %i
  te.parallel %i
  // expected-error @+1 {{makes a pipeline of a loop of stage "y" that is not serial, so that no iteration is the next one; use te.split first, and make the inner loop a pipeline}}
  te.pipeline %i
}

// -----

te.kernel @k(%x: tensor<4x16xf32>) -> tensor<4xf32> {
  %0 = te.compute "e" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x16xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  %1 = te.compute "y" axes [4] reduce [16] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x16xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<4xf32>
  te.return %1 : tensor<4xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %i, %k = te.axes %y : !te.axis, !te.axis
  // expected-error @+1 {{makes a pipeline of a loop of stage "y" at which nothing is computed; use te.compute_at first}}
  te.pipeline %i
}

// -----

te.kernel @k(%x: tensor<4x16xf32>) -> tensor<4xf32> {
  %0 = te.compute "e" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x16xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  %1 = te.compute "y" axes [4] reduce [16] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x16xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<4xf32>
  te.return %1 : tensor<4xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %i, %k = te.axes %y : !te.axis, !te.axis
  te.reorder %k, %i
  te.compute_at %e, %i
  // expected-error @+1 {{makes a pipeline of a loop of stage "y" with no loop inside, which would run beside what is computed there}}
  te.pipeline %i
}

// -----

te.kernel @k(%x: tensor<4x16xf32>) -> tensor<4xf32> {
  %0 = te.compute "e" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x16xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  %1 = te.compute "y" axes [4] reduce [16] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x16xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<4xf32>
  te.return %1 : tensor<4xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %i, %k = te.axes %y : !te.axis, !te.axis
  te.compute_at %e, %i
  te.pipeline %i
  // expected-error @+1 {{annotates a loop of stage "y" with "pipelined" a second time}}
  te.pipeline %i
}
