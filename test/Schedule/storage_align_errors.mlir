// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  // expected-error @+1 {{violates constraint C1: the factor must be from 1 to 65536, the offset from 0 to below it and the axis not negative, found 0, 0 and 0}}
  te.storage_align %a dim 0 by 0
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  // expected-error @+1 {{found 4, 4 and 0}}
  te.storage_align %a dim 0 by 4 offset 4
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  // expected-error @+1 {{names axis 2 of stage "a", which has 2 in memory}}
  te.storage_align %a dim 2 by 4
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  // expected-error @+1 {{spreads stage "y", a result of the kernel, which is given row-major; use te.cache_write first}}
  te.storage_align %s dim 0 by 32
}

// -----

te.kernel @k(%x: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %0 = te.compute "a" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  %1 = te.compute "y" axes [10, 24] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<10x24xf32> -> f32
    %b = arith.mulf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<10x24xf32>
  te.return %1 : tensor<10x24xf32>
}
te.schedule for @k {
  %s = te.stage "y"
  %i, %j = te.axes %s : !te.axis, !te.axis
  %a = te.stage "a"
  te.compute_inline %a
  // expected-error @+1 {{spreads stage "a", which is inlined and has no memory}}
  te.storage_align %a dim 0 by 32
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = te.compute "a" axes [8] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<8xf32>
  %1 = te.extern "byhand"(%0) {
  ^bb0(%p: memref<8xf32>, %q: memref<8xf32>):
    loop.for 8 serial {
    ^bb0(%i: index):
      %a = loop.load %p[%i] : memref<8xf32> -> f32
      loop.store %a, %q[%i] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  } : (tensor<8xf32>) -> tensor<8xf32>
  te.return %1 : tensor<8xf32>
}
te.schedule for @k {
  %s = te.stage "a"
  // expected-error @+1 {{spreads stage "a", which a loop nest written by hand reads or writes row-major}}
  te.storage_align %s dim 0 by 3
}
