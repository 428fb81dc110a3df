// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// A block of rows after the other: its sums of the left side, then panel by panel seven products and what is made of them. The loops over
// quarters, and over sums of the left side, are written out inside. A right side that is no constant is laid out first.
// CHECK-LABEL: te.schedule for @given
// CHECK:         %[[HOST:.*]] = te.stage "relu_3"
// CHECK:         %[[AXES:.*]]:2 = te.axes %[[HOST]]
// CHECK-NEXT:    %[[LOWER:.*]], %[[I:.*]] = te.split %[[AXES]]#0 by 256
// CHECK-NEXT:    %[[BEHIND:.*]], %[[J:.*]] = te.split %[[AXES]]#1 by 256
// CHECK-NEXT:    %[[BLOCKS:.*]], %[[II:.*]] = te.split %[[I]] by 12
// CHECK-NEXT:    %[[PANELS:.*]], %[[JJ:.*]] = te.split %[[J]] by 64
// CHECK-NEXT:    %[[VECTORS:.*]], %[[LANES:.*]] = te.split %[[JJ]] by 16
// CHECK-NEXT:    te.reorder %[[BLOCKS]], %[[PANELS]], %[[II]], %[[VECTORS]], %[[LOWER]], %[[BEHIND]], %[[LANES]]
// CHECK-NEXT:    te.unroll %[[LOWER]]
// CHECK-NEXT:    te.unroll %[[BEHIND]]
// CHECK-NEXT:    te.vectorize %[[LANES]]
// CHECK:         %[[PRODUCTS:.*]] = te.stage "products_1"
// CHECK:         te.compute_at %[[PRODUCTS]], %[[PANELS]]
// CHECK:         te.cache_read %{{.*}} as "panel" for %[[PRODUCTS]]
// CHECK:         %[[LEFT:.*]] = te.stage "left"
// CHECK:         %[[SUMS:.*]]:3 = te.axes %[[LEFT]]
// CHECK:         te.unroll %[[SUMS]]#0
// CHECK:         te.compute_at %[[LEFT]], %[[BLOCKS]]
// CHECK:         te.parallel %[[BLOCKS]]
func.func @main(%x: tensor<512x512xf32>, %u: tensor<7x256x256xf32>) -> tensor<512x512xf32> {
  %0 = call @given(%x, %u) : (tensor<512x512xf32>, tensor<7x256x256xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func private @given(%x: tensor<512x512xf32>, %u: tensor<7x256x256xf32>) -> tensor<512x512xf32> attributes {relay.primitive} {
  %0 = relay.matmul_strassen %x, %u : (tensor<512x512xf32>, tensor<7x256x256xf32>) -> tensor<512x512xf32>
  %1 = relay.relu %0 : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// -----

// The sums of few rows stay in the second cache, which does not hold the weight: they are made before, and each panel is read once.
// CHECK:       #[[PANELS_OF:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 64, d0, d1, d2 mod 64)>
// CHECK-LABEL: te.schedule for @weight
// CHECK:         te.reorder %[[PANELS:[a-z_0-9]+]], %[[BLOCKS:[a-z_0-9]+]], %
// CHECK:         %[[PRODUCTS:.*]] = te.stage "products_1"
// CHECK:         te.compute_at %[[PRODUCTS]], %[[BLOCKS]]
// CHECK-NOT:     te.cache_read
// CHECK:         te.transform_layout %{{.*}} by #[[PANELS_OF]]
// CHECK-NOT:     te.compute_at
// CHECK:         te.parallel %[[PANELS]]
func.func @main(%x: tensor<128x768xf32>) -> tensor<128x3072xf32> {
  %u = relay.constant dense<1.0> : tensor<7x384x1536xf32>
  %0 = call @weight(%x, %u) : (tensor<128x768xf32>, tensor<7x384x1536xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}
func.func private @weight(%x: tensor<128x768xf32>, %u: tensor<7x384x1536xf32>) -> tensor<128x3072xf32> attributes {relay.primitive} {
  %0 = relay.matmul_strassen %x, %u : (tensor<128x768xf32>, tensor<7x384x1536xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}

// -----

// Not a product by Strassen's algorithm: products of a batch, of which each element reads its own.
// CHECK-LABEL: te.schedule for @batch
// CHECK-NOT:     te.compute_at
// CHECK:         te.parallel
func.func @main(%x: tensor<7x64x64xf32>, %y: tensor<7x64x64xf32>) -> tensor<7x64x64xf32> {
  %0 = call @batch(%x, %y) : (tensor<7x64x64xf32>, tensor<7x64x64xf32>) -> tensor<7x64x64xf32>
  return %0 : tensor<7x64x64xf32>
}
func.func private @batch(%x: tensor<7x64x64xf32>, %y: tensor<7x64x64xf32>) -> tensor<7x64x64xf32> attributes {relay.primitive} {
  %0 = relay.batch_matmul %x, %y : (tensor<7x64x64xf32>, tensor<7x64x64xf32>) -> tensor<7x64x64xf32>
  return %0 : tensor<7x64x64xf32>
}
