// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-fp-math{level=fast},fusion-attach-target{name=znver4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// A block of rows after the other: their side, then panel by panel of one vector tiles of 14 rows. The four products are written out. Rows of the
// side lie an odd number of lines apart. A right side that is no constant is laid out first.
// CHECK-LABEL: te.schedule for @given
// CHECK:         %[[HOST:.*]] = te.stage "relu_5"
// CHECK:         %[[AXES:.*]]:2 = te.axes %[[HOST]]
// CHECK-NEXT:    %[[BLOCKS:.*]], %[[I:.*]] = te.split %[[AXES]]#0 by 70
// CHECK-NEXT:    %[[TILES:.*]], %[[II:.*]] = te.split %[[I]] by 14
// CHECK-NEXT:    %[[PANELS:.*]], %[[LANES:.*]] = te.split %[[AXES]]#1 by 16
// CHECK-NEXT:    te.unroll %[[II]]
// CHECK-NEXT:    te.vectorize %[[LANES]]
// CHECK-NEXT:    te.reorder %[[BLOCKS]], %[[PANELS]], %[[TILES]], %[[II]], %[[LANES]]
// CHECK:         %[[PRODUCTS:.*]] = te.stage "products_3"
// CHECK:         %[[STEPS:.*]]:4 = te.axes %[[PRODUCTS]]
// CHECK:         te.unroll %[[STEPS]]#3
// CHECK:         te.compute_at %[[PRODUCTS]], %[[LANES]]
// CHECK:         te.cache_read %{{.*}} as "panel" for %[[PRODUCTS]]
// CHECK:         %[[LEFT:.*]] = te.stage "left_1"
// CHECK:         te.compute_at %[[LEFT]], %[[BLOCKS]]
// CHECK:         te.storage_align %[[LEFT]] dim 0 by 32 offset 16
// CHECK:         te.parallel %[[BLOCKS]]
func.func @main(%x: tensor<512x512xf32>, %u: tensor<518x512xf32>) -> tensor<512x512xf32> {
  %0 = call @given(%x, %u) : (tensor<512x512xf32>, tensor<518x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func private @given(%x: tensor<512x512xf32>, %u: tensor<518x512xf32>) -> tensor<512x512xf32> attributes {relay.primitive} {
  %0 = relay.matmul_inner_product_trick %x, %u : (tensor<512x512xf32>, tensor<518x512xf32>) -> tensor<512x512xf32>
  %1 = relay.relu %0 : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// -----

// Vectors along places, where these fill them: a tile of filters goes over the panels of a block. The weight lies in such tiles.
// CHECK:       #[[TILES_OF:.*]] = affine_map<(d0, d1) -> (d1 floordiv 14, d0, d1 mod 14)>
// CHECK-LABEL: te.schedule for @places
// CHECK:         te.reverse_reindex
// CHECK:         %[[BLOCKS:[a-z_0-9]+]], %[[P:.*]] = te.split %{{.*}} by
// CHECK:         %[[TILES:.*]], %[[I:.*]] = te.split %{{.*}} by 14
// CHECK:         %[[PANELS:.*]], %[[LANES:.*]] = te.split %[[P]] by 16
// CHECK:         te.reorder %{{[0-9]+}}#0, %[[BLOCKS]], %[[TILES]], %[[PANELS]], %[[I]], %[[LANES]]
// CHECK:         te.transform_layout %{{.*}} by #[[TILES_OF]]
func.func @main(%x: tensor<1x96x28x28xf32>) -> tensor<1x140x28x28xf32> {
  %u = relay.constant dense<1.0> : tensor<98x140xf32>
  %0 = call @places(%x, %u) : (tensor<1x96x28x28xf32>, tensor<98x140xf32>) -> tensor<1x140x28x28xf32>
  return %0 : tensor<1x140x28x28xf32>
}
func.func private @places(%x: tensor<1x96x28x28xf32>, %u: tensor<98x140xf32>) -> tensor<1x140x28x28xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_inner_product_trick %x, %u : (tensor<1x96x28x28xf32>, tensor<98x140xf32>) -> tensor<1x140x28x28xf32>
  return %0 : tensor<1x140x28x28xf32>
}

// -----

// 49 places fill vectors badly: these are of filters, and are turned round when they are stored. Four tiles are of 13 rows or 10.
// CHECK:       #[[PANELS_OF:.*]] = affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>
// CHECK-LABEL: te.schedule for @filters
// CHECK:         %[[TILES:.*]], %[[I:.*]] = te.split %{{.*}} by 13
// CHECK:         %[[PANELS:.*]], %[[LANES:.*]] = te.split %{{.*}}#1 by 16
// CHECK:         te.reorder %{{[0-9]+}}#0, %{{[a-z]+}}, %[[PANELS]], %[[TILES]], %[[I]], %[[LANES]]
// CHECK:         te.transform_layout %{{.*}} by #[[PANELS_OF]]
func.func @main(%x: tensor<1x160x7x7xf32>) -> tensor<1x960x7x7xf32> {
  %u = relay.constant dense<1.0> : tensor<164x960xf32>
  %0 = call @filters(%x, %u) : (tensor<1x160x7x7xf32>, tensor<164x960xf32>) -> tensor<1x960x7x7xf32>
  return %0 : tensor<1x960x7x7xf32>
}
func.func private @filters(%x: tensor<1x160x7x7xf32>, %u: tensor<164x960xf32>) -> tensor<1x960x7x7xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_inner_product_trick %x, %u : (tensor<1x160x7x7xf32>, tensor<164x960xf32>) -> tensor<1x960x7x7xf32>
  return %0 : tensor<1x960x7x7xf32>
}

// -----

// Attention: sides of keys and values of a head, then a block of rows after the other.
// CHECK-LABEL: te.schedule for @attention
// CHECK:         %[[HOST:.*]] = te.stage "attention
// CHECK:         %[[AXES:.*]]:3 = te.axes %[[HOST]]
// CHECK:         %[[BLOCKS:.*]], %[[I:.*]] = te.split %[[AXES]]#1 by
// CHECK:         %[[VALUES:.*]] = te.stage "values
// CHECK:         te.compute_at %[[VALUES]], %[[AXES]]#0
// CHECK:         %[[WEIGHTS:.*]] = te.stage "weights
// CHECK:         te.compute_at %[[WEIGHTS]], %[[BLOCKS]]
// CHECK:         te.cache_read %{{.*}} as "panel"
// CHECK:         te.parallel %[[AXES]]#0
func.func @main(%q: tensor<4x96x32xf32>, %k: tensor<4x128x32xf32>, %v: tensor<4x128x32xf32>) -> tensor<4x96x32xf32> {
  %0 = call @attention(%q, %k, %v) : (tensor<4x96x32xf32>, tensor<4x128x32xf32>, tensor<4x128x32xf32>) -> tensor<4x96x32xf32>
  return %0 : tensor<4x96x32xf32>
}
func.func private @attention(%q: tensor<4x96x32xf32>, %k: tensor<4x128x32xf32>, %v: tensor<4x128x32xf32>) -> tensor<4x96x32xf32> attributes {relay.primitive} {
  %0 = relay.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<4x96x32xf32>, tensor<4x128x32xf32>, tensor<4x128x32xf32>) -> tensor<4x96x32xf32>
  return %0 : tensor<4x96x32xf32>
}

// -----

// A product that is by no pairs.
// CHECK-LABEL: te.schedule for @matmul
// CHECK-NOT:     storage_align
func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = call @matmul(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
func.func private @matmul(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
