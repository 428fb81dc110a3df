// RUN: fusion-opt %s --te-lower | FileCheck %s

// A row that is kept for two readers: the sum prefetches a share of the next row of the input, not of all rows.
// CHECK: #[[SHARE:.*]] = affine_map<(d0) -> (d0 * 64 + 64)>
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<256xf32> {llvm.noalias}, %
// CHECK:       loop.for 4 serial
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index):
// CHECK:         loop.for 64 serial
// CHECK:         loop.for 4 serial iter
// CHECK-NEXT:    ^bb0(%[[K:.*]]: index, %{{.*}}: f32):
// CHECK:           %[[ROW:.*]] = affine.apply #[[SHARE]](%[[I]])
// CHECK:           loop.prefetch %[[X]]
te.kernel @k(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = te.compute "e" axes [4, 64] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x64xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x64xf32>
  %1 = te.compute "sum" axes [4] reduce [64] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x64xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<4xf32>
  %2 = te.compute "y" axes [4, 64] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x64xf32> -> f32
    %b = te.load %1[%i] : tensor<4xf32> -> f32
    %c = arith.divf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<4x64xf32>
  te.return %2 : tensor<4x64xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %i, %j = te.axes %y : !te.axis, !te.axis
  %s = te.stage "sum"
  te.compute_at %s, %i
  %e = te.stage "e"
  te.compute_at %e, %i
  %si, %sk = te.axes %s : !te.axis, !te.axis
  %so, %sr = te.split %sk by 16
  %x = te.input 0
  te.prefetch %x, %i ahead 1 over %so
}
