// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s

// What follows a convolution element by element is its epilogue.
// CHECK-LABEL: func.func @epilogue
// CHECK-NEXT:    call @fused_conv2d_add_relu_0(%arg0, %arg1, %arg2)
// CHECK-NEXT:    return
// CHECK:       func.func private @fused_conv2d_add_relu_0(
// CHECK-SAME:    attributes {relay.primitive}
func.func @epilogue(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.add %0, %b : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.relu %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %2 : tensor<1x4x6x6xf32>
}

// -----

// A contraction reads its operands many times: what it reads is stored. Two contractions are two kernels.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %[[A:.*]] = call @fused_matmul_relu_0(%arg0, %arg1)
// CHECK-NEXT:    %[[B:.*]] = call @fused_matmul_0(%[[A]], %arg2)
// CHECK-NEXT:    return %[[B]]
func.func @chain(%x: tensor<8x16xf32>, %v: tensor<16x32xf32>, %w: tensor<32x8xf32>) -> tensor<8x8xf32> {
  %0 = relay.matmul %x, %v : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = relay.relu %0 : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %2 = relay.matmul %1, %w : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// Reductions over the same rows are one kernel, normalizations of rows too.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    call @fused_add_layer_norm_
// CHECK-NEXT:    return
func.func @rows(%x: tensor<64x256xf32>, %y: tensor<64x256xf32>, %g: tensor<256xf32>, %b: tensor<256xf32>) -> tensor<64x256xf32> {
  %0 = relay.add %x, %y : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %1 = relay.layer_norm %0, %g, %b {axis = -1 : i64} : (tensor<64x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<64x256xf32>
  return %1 : tensor<64x256xf32>
}

// -----

// Rows of what is outside may come in any order; elements of a row that would come from afar are brought first.
// CHECK-LABEL: func.func @rows_in_another_order
// CHECK-NEXT:    call @fused_transpose_softmax_0(%arg0)
// CHECK-NEXT:    call @fused_transpose_0(%arg0)
// CHECK-NEXT:    call @fused_softmax_0(
// CHECK-NEXT:    return
func.func @rows_in_another_order(%x: tensor<64x128x256xf32>) -> (tensor<128x64x256xf32>, tensor<64x256x128xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 1, 0, 2>} : (tensor<64x128x256xf32>) -> tensor<128x64x256xf32>
  %1 = relay.softmax %0 {axis = 2 : i64} : (tensor<128x64x256xf32>) -> tensor<128x64x256xf32>
  %2 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<64x128x256xf32>) -> tensor<64x256x128xf32>
  %3 = relay.softmax %2 {axis = 2 : i64} : (tensor<64x256x128xf32>) -> tensor<64x256x128xf32>
  return %1, %3 : tensor<128x64x256xf32>, tensor<64x256x128xf32>
}

// -----

// A cheap value that two kernels need is computed in both.
// CHECK-LABEL: func.func @recomputed
// CHECK:         func.func private @fused_neg_reduce_sum_
// CHECK:         func.func private @fused_neg_reduce_max_
func.func @recomputed(%x: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = relay.neg %x : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = relay.reduce_sum %0 {axes = array<i64: 0>} : (tensor<512x512xf32>) -> tensor<512xf32>
  %2 = relay.reduce_max %0 {axes = array<i64: 1>} : (tensor<512x512xf32>) -> tensor<512xf32>
  return %1, %2 : tensor<512xf32>, tensor<512xf32>
}

// -----

// Reshapes need no kernel.
// CHECK-LABEL: func.func @views
// CHECK-NEXT:    %[[A:.*]] = relay.reshape %arg0
// CHECK-NEXT:    return %[[A]]
// CHECK-NOT:     relay.primitive
func.func @views(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %0 = relay.expand_dims %x {axes = array<i64: 0>} : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
  %1 = relay.reshape %0 {shape = array<i64: 24>} : (tensor<1x4x6xf32>) -> tensor<24xf32>
  return %1 : tensor<24xf32>
}

// -----

// Control flow stays where it is; the blocks inside are programs of their own.
// CHECK-LABEL: func.func @loop
// CHECK:         relay.while
// CHECK:           call @fused_less_
// CHECK:           call @fused_add_
func.func @loop(%i: tensor<i64>, %x: tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  %r:2 = relay.while(%i, %x) {
  ^bb0(%n: tensor<i64>, %y: tensor<4xf32>):
    %most = relay.constant dense<10> : tensor<i64>
    %go = relay.less %n, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %go : tensor<i1>
  } do {
  ^bb0(%n: tensor<i64>, %y: tensor<4xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %next = relay.add %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relay.exp %y : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %next, %z : tensor<i64>, tensor<4xf32>
  } : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<i64>, tensor<4xf32>
}
