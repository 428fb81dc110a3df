// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d0 * 16 + (d1 floordiv 16) * 160 + d1 mod 16)>

// Panels of 16 columns, the last filled up: 24 columns take 32 places.
// CHECK-LABEL: func.func private @k(
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<320xf32>
// CHECK:         %[[TO:.*]] = affine.apply #[[PANELS]](%{{.*}}, %{{.*}})
// CHECK:         loop.store %{{.*}}, %[[A]][%[[TO]]]
// CHECK:         %[[FROM:.*]] = affine.apply #[[PANELS]](%{{.*}}, %{{.*}})
// CHECK:         loop.load %[[A]][%[[FROM]]]
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
  te.transform_layout %a by affine_map<(i, j) -> (j floordiv 16, i, j mod 16)>
}
