// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' | FileCheck %s

// One loop over the classes of the image, whose iterations threads may share. Keys and chosen boxes have tensors of their own.
// CHECK-LABEL: te.kernel @suppressed
// CHECK: loop.for 3 serial
// CHECK: loop.guard
// CHECK: {annotations = {independent = 1 : i64}}
// CHECK: (tensor<1x3x4xi64>, tensor<1x3x9xi64>, tensor<1x3x5x4xf32>)
// CHECK: te.return %{{.*}}#0 : tensor<1x3x4xi64>
func.func @suppressed(%boxes: tensor<1x9x4xf32>, %scores: tensor<1x3x9xf32>, %most: tensor<i64>, %overlap: tensor<f32>, %least: tensor<f32>)
    -> tensor<1x3x4xi64> attributes {relay.primitive} {
  %0 = relay.non_max_suppression %boxes, %scores, %most, %overlap, %least {room = 4}
      : (tensor<1x9x4xf32>, tensor<1x3x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1x3x4xi64>
  return %0 : tensor<1x3x4xi64>
}
