// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// As much as the last cache holds: a row is stored past the caches while the next one is computed, four vectors of each at a time.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[Y:.*]] = te.stage "softmax
// CHECK:         %[[YA:.*]]:2 = te.axes %[[Y]]
// CHECK:         %[[O:.*]], %[[I:.*]] = te.split %[[YA]]#0 by 16
// CHECK:         te.compute_at %{{.*}}, %[[I]]
// CHECK:         te.compute_at %{{.*}}, %[[I]]
// CHECK:         te.compute_at %{{.*}}, %[[I]]
// CHECK:         te.split %{{.*}}#1 by 128
// CHECK:         te.split %{{.*}}#1 by 64
// CHECK:         te.split %{{.*}}#1 by 64
// CHECK:         te.split %[[YA]]#1 by 64
// CHECK:         te.pipeline %[[I]]
// CHECK:         te.stream %[[Y]]
// CHECK:         te.parallel %[[O]]
func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = call @k(%x) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
func.func @k(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}

// -----

// Few rows of each of many: the loop over them stays one, and threads share the outer one.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[YA:.*]]:3 = te.axes %{{.*}} : !te.axis, !te.axis, !te.axis
// CHECK-NOT:     te.split %[[YA]]#1
// CHECK:         te.pipeline %[[YA]]#1
// CHECK:         te.parallel %[[YA]]#0
func.func @main(%x: tensor<512x16x1024xf32>) -> tensor<512x16x1024xf32> {
  %0 = call @k(%x) : (tensor<512x16x1024xf32>) -> tensor<512x16x1024xf32>
  return %0 : tensor<512x16x1024xf32>
}
func.func @k(%x: tensor<512x16x1024xf32>) -> tensor<512x16x1024xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x : (tensor<512x16x1024xf32>) -> tensor<512x16x1024xf32>
  return %0 : tensor<512x16x1024xf32>
}

// -----

// Rows of no whole vectors have loops of other lengths: they are only stored past the caches.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.pipeline
// CHECK:         te.stream
func.func @main(%x: tensor<4096x1100xf32>) -> tensor<4096x1100xf32> {
  %0 = call @k(%x) : (tensor<4096x1100xf32>) -> tensor<4096x1100xf32>
  return %0 : tensor<4096x1100xf32>
}
func.func @k(%x: tensor<4096x1100xf32>) -> tensor<4096x1100xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x : (tensor<4096x1100xf32>) -> tensor<4096x1100xf32>
  return %0 : tensor<4096x1100xf32>
}

// -----

// What the caches hold is stored there, beside the exponentials of the next row.
// CHECK-LABEL: te.schedule for @k
// CHECK:         te.pipeline
// CHECK-NOT:     te.stream
func.func @main(%x: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
  %0 = call @k(%x) : (tensor<128x1024xf32>) -> tensor<128x1024xf32>
  return %0 : tensor<128x1024xf32>
}
func.func @k(%x: tensor<128x1024xf32>) -> tensor<128x1024xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x : (tensor<128x1024xf32>) -> tensor<128x1024xf32>
  return %0 : tensor<128x1024xf32>
}

// -----

// Normalizations have nothing to be stored beside.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.pipeline
// CHECK-NOT:     te.stream
func.func @main(%x: tensor<512x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<512x768xf32> {
  %0 = func.call @k(%x, %g, %b) : (tensor<512x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<512x768xf32>
  return %0 : tensor<512x768xf32>
}
func.func @k(%x: tensor<512x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<512x768xf32> attributes {relay.primitive} {
  %0 = relay.layer_norm %x, %g, %b {axis = -1 : i64, epsilon = 1.0e-5 : f64} : (tensor<512x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<512x768xf32>
  return %0 : tensor<512x768xf32>
}
