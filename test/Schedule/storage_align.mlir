// RUN: fusion-opt %s --te-lower --split-input-file | FileCheck %s

// Rows of 24 elements, 36 apart.
// CHECK: #[[AT:.*]] = affine_map<(d0, d1) -> (d0 * 36 + d1)>
// CHECK-LABEL: func.func private @k(
// CHECK:       %[[A:.*]] = memref.view %{{.*}} to memref<360xf32>
// CHECK:       %[[TO:.*]] = affine.apply #[[AT]]
// CHECK:       loop.store %{{.*}}, %[[A]][%[[TO]]]
// CHECK:       %[[FROM:.*]] = affine.apply #[[AT]]
// CHECK:       loop.load %[[A]][%[[FROM]]]
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
  te.storage_align %a dim 0 by 16 offset 4
}

// -----

// Rows that are so already stay.
// CHECK-LABEL: func.func private @k(
// CHECK:       memref.view %{{.*}} to memref<240xf32>
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
  te.storage_align %a dim 0 by 8
}
