// RUN: fusion-opt %s --te-lower | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(te-lower,func.func(canonicalize,cse,loop-simplify,loop-overlap,canonicalize,cse))' | FileCheck %s --check-prefix=PIPE

// The loop says so; the loops are as without.
// CHECK-LABEL: func.func private @k(
// CHECK:         loop.for 4 serial
// CHECK-NEXT:    ^bb0(%{{.*}}: index):
// CHECK-NEXT:      %[[E:.*]] = loop.alloc local : memref<16xf32>
// CHECK-NEXT:      loop.for 16 serial
// CHECK:           loop.for 16 serial
// CHECK:         } {annotations = {pipelined = 1 : i64}}

// The row before is stored beside the next one.
// PIPE-LABEL: func.func private @k(
// PIPE:         loop.alloc local : memref<128xi8>
// PIPE:         loop.for 16 serial
// PIPE:         loop.for 3 serial
// PIPE:           loop.for 16 serial
// PIPE:             loop.load %arg0
// PIPE:             loop.store %{{.*}}, %{{[^a].*}} : f32, memref<16xf32>
// PIPE:             loop.store %{{.*}}, %arg1
// PIPE:         loop.for 16 serial
// PIPE:           loop.store %{{.*}}, %arg1
te.kernel @k(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = te.compute "e" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<4x16xf32> -> f32
    %b = math.exp %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  %1 = te.compute "y" axes [4, 16] reduce [] init [] {
  ^bb0(%i: index, %k: index):
    %a = te.load %0[%i, %k] : tensor<4x16xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<4x16xf32>
  te.return %1 : tensor<4x16xf32>
}
te.schedule for @k {
  %y = te.stage "y"
  %e = te.stage "e"
  %i, %k = te.axes %y : !te.axis, !te.axis
  te.compute_at %e, %i
  te.pipeline %i
}
