// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "copy" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %0 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "copy"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{divides a loop of stage "copy" of 100 iterations at 100; both parts must have some}}
  %r = te.divide %i at 100 as "rest"
}

// -----

te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "copy" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %0 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "copy"
  %i = te.axes %s : !te.axis
  %o, %n = te.split %i by 10
  // expected-error @+1 {{divides stage "copy" after other primitives; divide it first}}
  %r = te.divide %o at 5 as "rest"
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10xf32> {
  %0 = te.compute "sum" axes [10] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<10x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<10xf32>
  te.return %0 : tensor<10xf32>
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{divides a loop of stage "sum" that is a reduction; divide a parallel one}}
  %r = te.divide %k at 5 as "rest"
}

// -----

te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "copy" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  %1 = te.compute "again" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %1 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "copy"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{divides stage "copy", which has several results, or one that other stages read; divide a result of the kernel}}
  %r = te.divide %i at 50 as "rest"
}

// -----

te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "copy" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %0 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "copy"
  %i = te.axes %s : !te.axis
  // expected-error @+1 {{makes a stage "copy", but the kernel has one of that name}}
  %r = te.divide %i at 50 as "copy"
}
