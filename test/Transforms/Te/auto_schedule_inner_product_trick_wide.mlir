// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-fp-math{level=fast},fusion-attach-target{name=znver5},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// A core that begins two multiply-adds in a cycle loads too little for tiles of one vector: they are of two, and panels as wide.
// CHECK:       #[[PANELS_OF:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK-LABEL: te.schedule for @wide
// CHECK:         %[[BLOCKS:.*]], %[[I:.*]] = te.split %{{.*}}#0 by
// CHECK-NEXT:    %[[TILES:.*]], %[[II:.*]] = te.split %[[I]] by 9
// CHECK-NEXT:    %[[PANELS:.*]], %[[J:.*]] = te.split %{{.*}}#1 by 32
// CHECK-NEXT:    te.unroll %[[II]]
// CHECK-NEXT:    %[[VECTORS:.*]], %[[LANES:.*]] = te.split %[[J]] by 16
// CHECK-NEXT:    te.unroll %[[VECTORS]]
// CHECK-NEXT:    te.vectorize %[[LANES]]
// CHECK-NEXT:    te.reorder %[[BLOCKS]], %[[PANELS]], %[[TILES]], %[[II]], %[[VECTORS]], %[[LANES]]
// CHECK:         te.compute_at %{{.*}}, %[[LANES]]
// CHECK:         te.transform_layout %{{.*}} by #[[PANELS_OF]]
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %u = relay.constant dense<1.0> : tensor<518x512xf32>
  %0 = call @wide(%x, %u) : (tensor<512x512xf32>, tensor<518x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func private @wide(%x: tensor<512x512xf32>, %u: tensor<518x512xf32>) -> tensor<512x512xf32> attributes {relay.primitive} {
  %0 = relay.matmul_inner_product_trick %x, %u : (tensor<512x512xf32>, tensor<518x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Sixteen columns are one vector. Twenty rows are two tiles of ten, not one of fourteen and one of six.
// CHECK-LABEL: te.schedule for @narrow
// CHECK:         %{{.*}} = te.split %{{.*}} by 10
// CHECK-NEXT:    %{{.*}} = te.split %{{.*}} by 10
// CHECK-NEXT:    %{{.*}}, %[[LANES:.*]] = te.split %{{.*}}#1 by 16
// CHECK-NOT:     te.split %[[LANES]]
// CHECK:         te.vectorize %[[LANES]]
func.func @main(%x: tensor<20x96xf32>, %u: tensor<98x16xf32>) -> tensor<20x16xf32> {
  %0 = call @narrow(%x, %u) : (tensor<20x96xf32>, tensor<98x16xf32>) -> tensor<20x16xf32>
  return %0 : tensor<20x16xf32>
}
func.func private @narrow(%x: tensor<20x96xf32>, %u: tensor<98x16xf32>) -> tensor<20x16xf32> attributes {relay.primitive} {
  %0 = relay.matmul_inner_product_trick %x, %u : (tensor<20x96xf32>, tensor<98x16xf32>) -> tensor<20x16xf32>
  return %0 : tensor<20x16xf32>
}

// -----

// Two vectors of places, as two of places lie side by side; those of keys and of columns in an attention.
// CHECK-LABEL: te.schedule for @places
// CHECK:         te.split %{{.*}} by 9
// CHECK-NEXT:    %{{.*}}, %[[P:.*]] = te.split %{{.*}} by 32
// CHECK:         te.split %[[P]] by 16
func.func @main(%x: tensor<1x96x28x28xf32>) -> tensor<1x144x28x28xf32> {
  %u = relay.constant dense<1.0> : tensor<98x144xf32>
  %0 = call @places(%x, %u) : (tensor<1x96x28x28xf32>, tensor<98x144xf32>) -> tensor<1x144x28x28xf32>
  return %0 : tensor<1x144x28x28xf32>
}
func.func private @places(%x: tensor<1x96x28x28xf32>, %u: tensor<98x144xf32>) -> tensor<1x144x28x28xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_inner_product_trick %x, %u : (tensor<1x96x28x28xf32>, tensor<98x144xf32>) -> tensor<1x144x28x28xf32>
  return %0 : tensor<1x144x28x28xf32>
}

// -----

// CHECK-LABEL: te.schedule for @attention
// CHECK:         te.split %{{.*}} by 9
// CHECK-NEXT:    %{{.*}}, %[[COLUMNS:.*]] = te.split %{{.*}}#2 by 32
// CHECK:         te.split %[[COLUMNS]] by 16
func.func @main(%q: tensor<8x512x64xf32>, %k: tensor<8x512x64xf32>, %v: tensor<8x512x64xf32>) -> tensor<8x512x64xf32> {
  %0 = call @attention(%q, %k, %v) : (tensor<8x512x64xf32>, tensor<8x512x64xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  return %0 : tensor<8x512x64xf32>
}
func.func private @attention(%q: tensor<8x512x64xf32>, %k: tensor<8x512x64xf32>, %v: tensor<8x512x64xf32>) -> tensor<8x512x64xf32> attributes {relay.primitive} {
  %0 = relay.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x512x64xf32>, tensor<8x512x64xf32>, tensor<8x512x64xf32>) -> tensor<8x512x64xf32>
  return %0 : tensor<8x512x64xf32>
}
