// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

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
  te.vectorize %i
  // expected-error @+1 {{vectorizes a parallel and a reduction axis of stage "sum"; lanes are of one kind}}
  te.vectorize %k
}

// -----

te.kernel @k(%x: tensor<10x2400xf32>) -> tensor<10x2400xf32> {
  %0 = te.compute "y" axes [10, 2400] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x2400xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<10x2400xf32>
  te.return %0 : tensor<10x2400xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  // expected-error @+1 {{vectorizes a loop of 2400 iterations, at most 256 make a vector; split it first}}
  te.vectorize %j
}
