// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Copies of 2 x 27 x 16 places and 5 x 27 weights, a product of each of two matrices with one, and what reads it.
// CHECK-LABEL: func.func private @k(
// CHECK:       loop.for 2 serial
// CHECK:         loop.for 27 serial
// CHECK:           loop.for 16 serial
// CHECK:       loop.for 5 serial
// CHECK:         loop.for 27 serial
// CHECK:       loop.for 2 serial
// CHECK:         loop.for 5 serial
// CHECK:           loop.for 16 serial
// CHECK:             loop.for 27 serial iter
// CHECK:               arith.mulf
// CHECK:       loop.for 4 serial
// CHECK:         arith.maximumf
te.kernel @k(%x: tensor<2x3x6x6xf32>, %f: tensor<5x3x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = te.compute "conv" axes [2, 5, 4, 4] reduce [3, 3, 3] init [0.0 : f32] {
  ^bb0(%n: index, %o: index, %h: index, %w: index, %c: index, %r: index, %s: index):
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %a = te.load %x[%n, %c, %hr, %ws] : tensor<2x3x6x6xf32> -> f32
    %b = te.load %f[%o, %c, %r, %s] : tensor<5x3x3x3xf32> -> f32
    %m = arith.mulf %a, %b : f32
    te.yield %m : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<2x5x4x4xf32>
  %1 = te.compute "relu" axes [2, 5, 4, 4] reduce [] init [] {
  ^bb0(%n: index, %o: index, %h: index, %w: index):
    %zero = arith.constant 0.0 : f32
    %a = te.load %0[%n, %o, %h, %w] : tensor<2x5x4x4xf32> -> f32
    %b = arith.maximumf %a, %zero : f32
    te.yield %b : f32
  } combine {} : tensor<2x5x4x4xf32>
  te.return %1 : tensor<2x5x4x4xf32>
}
te.schedule for @k {
  %s = te.stage "conv"
  %b, %a = te.reindex %s by [0, 1, 2, 2, 3, 3, 3] as "b" [0, 3, 2] and "a" [1, 3]
}
