// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// Rows from beyond the near cache: the second pass over a row asks for the next one.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[EXP:.*]] = te.stage "exp_1"
// CHECK:         %[[A:.*]]:2 = te.axes %[[EXP]]
// CHECK:         %[[O:.*]], %{{.*}} = te.split %[[A]]#1 by 16
// CHECK:         %[[X:.*]] = te.input 0
// CHECK:         te.prefetch %[[X]], %[[O]] ahead 125
func.func @main(%x: tensor<4096x1000xf32>) -> tensor<4096x1000xf32> {
  %0 = call @k(%x) : (tensor<4096x1000xf32>) -> tensor<4096x1000xf32>
  return %0 : tensor<4096x1000xf32>
}
func.func @k(%x: tensor<4096x1000xf32>) -> tensor<4096x1000xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x {axis = -1 : i64} : (tensor<4096x1000xf32>) -> tensor<4096x1000xf32>
  return %0 : tensor<4096x1000xf32>
}

// -----

// What the near cache holds is not asked for.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.prefetch
func.func @main(%x: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
  %0 = call @k(%x) : (tensor<128x1024xf32>) -> tensor<128x1024xf32>
  return %0 : tensor<128x1024xf32>
}
func.func @k(%x: tensor<128x1024xf32>) -> tensor<128x1024xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x {axis = -1 : i64} : (tensor<128x1024xf32>) -> tensor<128x1024xf32>
  return %0 : tensor<128x1024xf32>
}

// -----

// A large weight that is used once is read in four streams.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[S:[a-z_0-9]+]], %[[K:[a-z_0-9]+]] = te.split %{{[0-9]+}}#2 by 256
// CHECK:         te.reorder %{{[a-z_0-9]+}}, %{{[a-z_0-9]+}}, %{{[a-z_0-9]+}}, %[[K]], %[[S]]
// CHECK:         te.unroll %[[S]]
func.func @main(%x: tensor<1x1024xf32>) -> tensor<1x4096xf32> {
  %w = relay.constant dense<0.5> : tensor<1024x4096xf32>
  %0 = call @k(%x, %w) : (tensor<1x1024xf32>, tensor<1024x4096xf32>) -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}
func.func @k(%x: tensor<1x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<1x4096xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<1x1024xf32>, tensor<1024x4096xf32>) -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}

// -----

// One that is used for many rows is asked for some steps ahead.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK:         te.prefetch %{{.*}}, %[[A]]#2 ahead
func.func @main(%x: tensor<128x768xf32>) -> tensor<128x3072xf32> {
  %w = relay.constant dense<0.5> : tensor<768x3072xf32>
  %0 = call @k(%x, %w) : (tensor<128x768xf32>, tensor<768x3072xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}
func.func @k(%x: tensor<128x768xf32>, %w: tensor<768x3072xf32>) -> tensor<128x3072xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<128x768xf32>, tensor<768x3072xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}

// -----

// A small one lies in the near cache.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.prefetch
func.func @main(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %w = relay.constant dense<0.5> : tensor<128x128xf32>
  %0 = call @k(%x, %w) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
func.func @k(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// Rows and results beyond the near cache: the steps of a tile ask for those of the next tile of rows.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[A:.*]]:3 = te.axes
// CHECK:         %[[ROWS:[a-z_0-9]+]], %{{.*}} = te.split %[[A]]#0
// CHECK:         %[[X:.*]] = te.input 0
// CHECK:         te.prefetch %[[X]], %[[ROWS]] ahead 1 over %[[A]]#2
// CHECK:         te.prefetch %{{.*}}, %[[ROWS]] ahead 1 over %[[A]]#2
func.func @main(%x: tensor<4096x128xf32>) -> tensor<4096x128xf32> {
  %w = relay.constant dense<0.5> : tensor<128x128xf32>
  %0 = call @k(%x, %w) : (tensor<4096x128xf32>, tensor<128x128xf32>) -> tensor<4096x128xf32>
  return %0 : tensor<4096x128xf32>
}
func.func @k(%x: tensor<4096x128xf32>, %w: tensor<128x128xf32>) -> tensor<4096x128xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<4096x128xf32>, tensor<128x128xf32>) -> tensor<4096x128xf32>
  return %0 : tensor<4096x128xf32>
}

// -----

// Constants of all kernels together do not stay near: each is asked for, panel by panel in the order of the loops, and all rows are
// multiplied while it comes.
// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv [[N:[0-9]+]], d1, d2 mod [[N]])>
// CHECK-LABEL: te.schedule for @first
// CHECK:         %[[W:.*]] = te.input 1
// CHECK:         te.transform_layout %[[W]] by #[[PANELS]]
// CHECK:         %[[A:.*]]:4 = te.axes
// CHECK:         %[[P:[a-z_0-9]+]], %{{.*}} = te.split %[[A]]#2 by [[N]]
// CHECK-NEXT:    te.unroll %[[A]]#1
// CHECK:         te.reorder %[[A]]#0, %[[P]], %[[A]]#1,
// CHECK:         te.prefetch %[[W]], %[[A]]#3 ahead
// CHECK-LABEL: te.schedule for @second
// CHECK:         te.prefetch
func.func @main(%x: tensor<16x12x96xf32>) -> tensor<16x12x80xf32> {
  %v = relay.constant dense<0.5> : tensor<16x96x96xf32>
  %w = relay.constant dense<0.25> : tensor<16x96x80xf32>
  %0 = call @first(%x, %v) : (tensor<16x12x96xf32>, tensor<16x96x96xf32>) -> tensor<16x12x96xf32>
  %1 = call @second(%0, %w) : (tensor<16x12x96xf32>, tensor<16x96x80xf32>) -> tensor<16x12x80xf32>
  return %1 : tensor<16x12x80xf32>
}
func.func @first(%x: tensor<16x12x96xf32>, %w: tensor<16x96x96xf32>) -> tensor<16x12x96xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<16x12x96xf32>, tensor<16x96x96xf32>) -> tensor<16x12x96xf32>
  return %0 : tensor<16x12x96xf32>
}
func.func @second(%x: tensor<16x12x96xf32>, %w: tensor<16x96x80xf32>) -> tensor<16x12x80xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<16x12x96xf32>, tensor<16x96x80xf32>) -> tensor<16x12x80xf32>
  return %0 : tensor<16x12x80xf32>
}

// -----

// One of them alone stays.
// CHECK-LABEL: te.schedule for @first
// CHECK-NOT:     te.prefetch
func.func @main(%x: tensor<16x12x96xf32>) -> tensor<16x12x96xf32> {
  %w = relay.constant dense<0.5> : tensor<16x96x96xf32>
  %0 = call @first(%x, %w) : (tensor<16x12x96xf32>, tensor<16x96x96xf32>) -> tensor<16x12x96xf32>
  return %0 : tensor<16x12x96xf32>
}
func.func @first(%x: tensor<16x12x96xf32>, %w: tensor<16x96x96xf32>) -> tensor<16x12x96xf32> attributes {relay.primitive} {
  %0 = relay.matmul %x, %w : (tensor<16x12x96xf32>, tensor<16x96x96xf32>) -> tensor<16x12x96xf32>
  return %0 : tensor<16x12x96xf32>
}
