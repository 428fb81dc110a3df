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
  // expected-error @+1 {{computes stage "copy" once more, which is a result of the kernel, a nest written by hand or arranged by other primitives already}}
  %r = te.recompute %s as "other" for %s
}

// -----

te.kernel @k(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %0 = te.compute "first" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  %1 = te.compute "second" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  %2 = te.compute "third" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %1, %2 : tensor<100xf32>, tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "first"
  %t = te.stage "third"
  // expected-error @+1 {{is for stage "third", which does not read that stage}}
  %r = te.recompute %s as "other" for %t
}

// -----

// What only a part is computed of has no copy of all of it.
te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "first" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  %1 = te.compute "second" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %1 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "first"
  %t = te.stage "second"
  %i = te.axes %t : !te.axis
  %r = te.divide %i at 50 as "rest"
  %c = te.recompute %s as "other" for %r
  // expected-error @+1 {{copies stage "first", of which only a part is computed}}
  %d = te.cache_read %s as "cached"
}

// -----

te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "first" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  %1 = te.compute "second" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %1 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "first"
  %t = te.stage "second"
  // expected-error @+1 {{is for stage "second", which reads nothing of that stage from 50 to 100 along axis 0 alone}}
  %r = te.recompute %s as "other" for %t part [0, 50, 100]
}

// -----

te.kernel @k(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = te.compute "first" axes [100] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<100xf32> -> f32
    te.yield %a : f32
  } combine {
  } : tensor<100xf32>
  te.return %0 : tensor<100xf32>
}
te.schedule for @k {
  %s = te.stage "first"
  // expected-error @+1 {{violates constraint C1: a part is an axis, where it begins and where it ends, behind that, found [0, 50, 50]}}
  %r = te.recompute %s as "other" for %s part [0, 50, 50]
}
