// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te.kernel(canonicalize,cse))' --split-input-file | FileCheck %s

// Sums of more than 2^16 numbers are made in blocks: of several axes from the innermost on.
// CHECK-LABEL: te.kernel @columns
// CHECK:         te.compute "reduce_sum_blocks" axes [128, 16] reduce [1024]
// CHECK:         te.compute "reduce_sum_1" axes [16] reduce [128]
func.func @columns(%x: tensor<131072x16xf32>) -> tensor<16xf32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x {axes = array<i64: 0>} : (tensor<131072x16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// CHECK-LABEL: te.kernel @axes
// CHECK:         te.compute "reduce_sum_blocks" axes [300, 7] reduce [1, 50, 20]
// CHECK:         te.compute "reduce_sum_1" axes [7] reduce [300]
func.func @axes(%x: tensor<300x7x50x20xf32>) -> tensor<7xf32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x {axes = array<i64: 0, 2, 3>} : (tensor<300x7x50x20xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// What blocks leave over is a sum of its own.
// CHECK-LABEL: te.kernel @prime
// CHECK:         te.compute "reduce_sum_blocks" axes [97] reduce [1024]
// CHECK:         te.compute "whole_1" axes [] reduce [97]
// CHECK:         te.compute "rest_blocks_2" axes [] reduce [675]
// CHECK:         te.compute "reduce_sum_3" axes [] reduce []
func.func @prime(%x: tensor<100003xf32>) -> tensor<f32> attributes {relay.primitive} {
  %0 = relay.reduce_sum %x : (tensor<100003xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// f64 has digits enough, and the greatest number is rounded nowhere.
// CHECK-LABEL: te.kernel @others
// CHECK-NOT:     blocks
func.func @others(%x: tensor<131072xf64>, %y: tensor<131072xf32>) -> (tensor<f64>, tensor<f32>) attributes {relay.primitive} {
  %0 = relay.reduce_sum %x : (tensor<131072xf64>) -> tensor<f64>
  %1 = relay.reduce_max %y : (tensor<131072xf32>) -> tensor<f32>
  return %0, %1 : tensor<f64>, tensor<f32>
}
