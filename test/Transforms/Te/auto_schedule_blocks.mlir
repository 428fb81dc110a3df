// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// Winograd's form of a convolution of a large image goes through all of its stages row of tiles by row of tiles.
// CHECK-LABEL: te.schedule for @large
// CHECK-DAG:     %[[PAD:.*]] = te.stage "pad"
// CHECK-DAG:     %[[MULTIPLY:.*]] = te.stage "multiply_2"
// CHECK:         %[[Y:.*]] = te.stage "relu_5"
// CHECK:         %[[AXES:.*]]:4 = te.axes %[[Y]]
// CHECK:         %[[BLOCKS:.*]], %{{.*}} = te.split %[[AXES]]#2 by 4
// CHECK:         %[[RESULT:.*]] = te.stage "result_3"
// CHECK:         te.compute_at %[[RESULT]], %[[BLOCKS]]
// CHECK:         te.compute_at %[[MULTIPLY]], %[[BLOCKS]]
// CHECK:         %[[DATA:.*]] = te.stage "data_1"
// CHECK:         te.compute_at %[[DATA]], %[[BLOCKS]]
// CHECK:         te.compute_at %[[PAD]], %[[BLOCKS]]
// CHECK:         te.parallel %[[BLOCKS]]
func.func @main(%x: tensor<1x64x224x224xf32>) -> tensor<1x64x224x224xf32> {
  %u = relay.constant dense<1.0> : tensor<36x64x64xf32>
  %0 = call @large(%x, %u) : (tensor<1x64x224x224xf32>, tensor<36x64x64xf32>) -> tensor<1x64x224x224xf32>
  return %0 : tensor<1x64x224x224xf32>
}
func.func @large(%x: tensor<1x64x224x224xf32>, %u: tensor<36x64x64xf32>) -> tensor<1x64x224x224xf32> attributes {relay.primitive} {
  %0 = relay.winograd_conv2d %x, %u {tile = 4 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x224x224xf32>, tensor<36x64x64xf32>) -> tensor<1x64x224x224xf32>
  %1 = relay.relu %0 : (tensor<1x64x224x224xf32>) -> tensor<1x64x224x224xf32>
  return %1 : tensor<1x64x224x224xf32>
}

// -----

// What fits into the caches is computed stage by stage: the weight is read once.
// CHECK-LABEL: te.schedule for @small
// CHECK-NOT:     te.compute_at
// CHECK:         te.parallel
func.func @main(%x: tensor<1x256x28x28xf32>) -> tensor<1x256x28x28xf32> {
  %u = relay.constant dense<1.0> : tensor<36x256x256xf32>
  %0 = call @small(%x, %u) : (tensor<1x256x28x28xf32>, tensor<36x256x256xf32>) -> tensor<1x256x28x28xf32>
  return %0 : tensor<1x256x28x28xf32>
}
func.func @small(%x: tensor<1x256x28x28xf32>, %u: tensor<36x256x256xf32>) -> tensor<1x256x28x28xf32> attributes {relay.primitive} {
  %0 = relay.winograd_conv2d %x, %u {tile = 4 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x256x28x28xf32>, tensor<36x256x256xf32>) -> tensor<1x256x28x28xf32>
  %1 = relay.relu %0 : (tensor<1x256x28x28xf32>) -> tensor<1x256x28x28xf32>
  return %1 : tensor<1x256x28x28xf32>
}

// -----

// Fourteen rows of tiles, two of which fit, are shared evenly one by one: seven blocks of two are four for one thread.
// CHECK-LABEL: te.schedule for @even
// CHECK:         %[[Y:.*]] = te.stage "relu_5"
// CHECK:         %[[AXES:.*]]:4 = te.axes %[[Y]]
// CHECK:         %[[BLOCKS:.*]], %{{.*}} = te.split %[[AXES]]#2 by 4
// CHECK:         te.parallel %[[BLOCKS]]
func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %u = relay.constant dense<1.0> : tensor<36x64x64xf32>
  %0 = call @even(%x, %u) : (tensor<1x64x56x56xf32>, tensor<36x64x64xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}
func.func @even(%x: tensor<1x64x56x56xf32>, %u: tensor<36x64x64xf32>) -> tensor<1x64x56x56xf32> attributes {relay.primitive} {
  %0 = relay.winograd_conv2d %x, %u {tile = 4 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x64x56x56xf32>, tensor<36x64x64xf32>) -> tensor<1x64x56x56xf32>
  %1 = relay.relu %0 : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %1 : tensor<1x64x56x56xf32>
}
