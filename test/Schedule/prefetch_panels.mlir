// RUN: fusion-opt %s --te-pack-arguments --te-lower | FileCheck %s

// Of a tensor that is laid out in panels, the next panel lies side by side: 768 elements, eight in each of 96 steps.
// CHECK: #[[AHEAD:.*]] = affine_map<(d0) -> (d0 * 768 + 768)>
// CHECK: #[[SHARE:.*]] = affine_map<(d0, d1) -> (d0 * 192 + d1 * 8)>
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %{{.*}}: memref<288xf32> {{.*}}, %[[W:.*]]: memref<3072xf32>
// CHECK:       loop.for 4 serial
// CHECK-NEXT:  ^bb0(%[[PANEL:.*]]: index):
// CHECK:         loop.for 4 serial
// CHECK:               loop.for 24 serial
// CHECK:                 %[[NEXT:.*]] = affine.apply #[[AHEAD]](%[[PANEL]])
// CHECK:                 %[[LOW:.*]] = arith.maxsi %[[NEXT]]
// CHECK:                 %[[FIRST:.*]] = arith.minsi %[[LOW]]
// CHECK:                 %[[STEP:.*]] = affine.apply #[[SHARE]]
// CHECK:                 %[[AT:.*]] = arith.addi %[[FIRST]], %[[STEP]]
// CHECK-NEXT:            loop.prefetch %[[W]][%[[AT]]]
func.func @main(%x: tensor<12x24xf32>) -> tensor<12x128xf32> {
  %w = te.constant dense<0.5> : tensor<24x128xf32> : tensor<24x128xf32>
  %y = te.call @k(%x, %w) : (tensor<12x24xf32>, tensor<24x128xf32>) -> tensor<12x128xf32>
  return %y : tensor<12x128xf32>
}
te.kernel @k(%x: tensor<12x24xf32>, %w: tensor<24x128xf32>) -> tensor<12x128xf32> {
  %0 = te.compute "dense" axes [12, 128] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<12x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x128xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<12x128xf32>
  te.return %0 : tensor<12x128xf32>
}
te.schedule for @k {
  %w = te.input 1
  te.transform_layout %w by affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
  %d = te.stage "dense"
  %i, %j, %k = te.axes %d : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 32
  %io, %ii = te.split %i by 3
  te.reorder %jo, %io, %ii, %ji
  te.unroll %ii
  te.vectorize %ji
  te.prefetch %w, %jo ahead 1 over %k
}
