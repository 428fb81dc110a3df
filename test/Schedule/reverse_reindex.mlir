// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Heads of a product's columns, each given apart: the loops are the product's, and its elements go to where they belong.
// CHECK: #[[TO:.*]] = affine_map<(d0, d1) -> (d0 * 4 + (d1 floordiv 4) * 20 + d1 mod 4)>
// CHECK-LABEL: func.func private @k(
// CHECK-NOT:   memref.view
// CHECK:       loop.for 5 serial
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index):
// CHECK:         loop.for 12 serial
// CHECK-NEXT:    ^bb0(%[[J:.*]]: index):
// CHECK:           %[[S:.*]] = loop.for 6 serial iter
// CHECK:           %[[A:.*]] = affine.apply #[[TO]](%[[I]], %[[J]])
// CHECK:           loop.store %[[S]], %{{.*}}[%[[A]]] : f32, memref<60xf32>
// CHECK-NOT:   loop.for
// CHECK:       return
te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x4xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 4 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  te.return %1 : tensor<3x5x4xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  te.reverse_reindex %y, %p
  %i, %j = te.axes %y : !te.axis, !te.axis
  te.compute_at %p, %j
}

// -----

// What stands between them goes over the same axes, and may be inlined; another operand is read where the element belongs.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:.*]]: memref<24xf32> {{.*}}, %[[R:.*]]: memref<24xf32> {{.*}}, %[[Y:.*]]: memref<24xf32>
// CHECK:       loop.for 6 serial
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index):
// CHECK-NEXT:    loop.for 4 serial
// CHECK-NEXT:    ^bb0(%[[J:.*]]: index):
// CHECK:           %[[AT:.*]] = affine.apply #[[OWN:.*]](%[[I]], %[[J]])
// CHECK:           loop.load %[[X]][%[[AT]]]
// CHECK:           %[[THERE:.*]] = affine.apply #[[TURNED:.*]](%[[I]], %[[J]])
// CHECK:           loop.load %[[R]][%[[THERE]]]
// CHECK:           %[[TO:.*]] = affine.apply #[[TURNED]](%[[I]], %[[J]])
// CHECK:           loop.store %{{.*}}, %[[Y]][%[[TO]]]
te.kernel @k(%x: tensor<6x4xf32>, %r: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %0 = te.compute "twice" axes [6, 4] reduce [] init [] {
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<6x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<6x4xf32>
  %1 = te.compute "apart" axes [2, 3, 4] reduce [] init [] {
  ^bb0(%h: index, %i: index, %j: index):
    %n = arith.constant 3 : index
    %a = arith.muli %h, %n : index
    %b = arith.addi %a, %i : index
    %c = te.load %0[%b, %j] : tensor<6x4xf32> -> f32
    te.yield %c : f32
  } combine {} : tensor<2x3x4xf32>
  %2 = te.compute "turned" axes [4, 2, 3] reduce [] init [] {
  ^bb0(%j: index, %h: index, %i: index):
    %a = te.load %1[%h, %i, %j] : tensor<2x3x4xf32> -> f32
    %b = te.load %r[%j, %h, %i] : tensor<4x2x3xf32> -> f32
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } combine {} : tensor<4x2x3xf32>
  te.return %2 : tensor<4x2x3xf32>
}
te.schedule for @k {
  %p = te.stage "twice"
  %y = te.stage "turned"
  te.reverse_reindex %y, %p
  te.compute_inline %p
  %b = te.stage "apart"
  te.compute_inline %b
}
