// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s

// Transposes that undo each other are gone, whatever elementwise operators stand between them.
// CHECK-LABEL: func.func @transposes
// CHECK:       func.func private @fused_tanh_
// CHECK-NOT:     relay.transpose
func.func @transposes(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = relay.transpose %x : (tensor<64x128xf32>) -> tensor<128x64xf32>
  %1 = relay.tanh %0 : (tensor<128x64xf32>) -> tensor<128x64xf32>
  %2 = relay.transpose %1 : (tensor<128x64xf32>) -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}

// -----

// The scale of a batch normalization goes into the weight, its shift is an epilogue: 2 * 0.5 / sqrt(4 + 0) = 0.5.
// CHECK-LABEL: func.func @batch_norm
// CHECK:       func.func private @fused_conv2d_add_relu_0
// CHECK:         relay.constant dense<5.000000e-01> : tensor<4x3x5x5xf32>
// CHECK-NEXT:    relay.conv2d
// CHECK-NOT:     relay.batch_norm
func.func @batch_norm(%x: tensor<1x3x12x12xf32>) -> tensor<1x4x8x8xf32> {
  %w = relay.constant dense<1.0> : tensor<4x3x5x5xf32>
  %g = relay.constant dense<1.0> : tensor<4xf32>
  %m = relay.constant dense<0.0> : tensor<4xf32>
  %v = relay.constant dense<4.0> : tensor<4xf32>
  %b = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = relay.conv2d %x, %w : (tensor<1x3x12x12xf32>, tensor<4x3x5x5xf32>) -> tensor<1x4x8x8xf32>
  %1 = relay.batch_norm %0, %g, %b, %m, %v {epsilon = 0.0 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %2 = relay.relu %1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %2 : tensor<1x4x8x8xf32>
}

// -----

// Products around a softmax are attention; the scale of the scores is its attribute.
// CHECK-LABEL: func.func @attention
// CHECK:       func.func private @fused_attention_0
// CHECK-NEXT:    relay.attention %arg0, %arg1, %arg2 {scale = 1.250000e-01 : f64}
func.func @attention(%q: tensor<8x128x64xf32>, %k: tensor<8x128x64xf32>, %v: tensor<8x128x64xf32>) -> tensor<8x128x64xf32> {
  %c = relay.constant dense<8.0> : tensor<f32>
  %t = relay.transpose %k {axes = array<i64: 0, 2, 1>} : (tensor<8x128x64xf32>) -> tensor<8x64x128xf32>
  %0 = relay.matmul %q, %t : (tensor<8x128x64xf32>, tensor<8x64x128xf32>) -> tensor<8x128x128xf32>
  %1 = relay.div %0, %c : (tensor<8x128x128xf32>, tensor<f32>) -> tensor<8x128x128xf32>
  %2 = relay.softmax %1 : (tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %3 = relay.matmul %2, %v : (tensor<8x128x128xf32>, tensor<8x128x64xf32>) -> tensor<8x128x64xf32>
  return %3 : tensor<8x128x64xf32>
}

// -----

// A layer normalization as exporters write it, with its scale and shift.
// CHECK-LABEL: func.func @layer_norm
// CHECK-NEXT:    call @fused_layer_norm_0(%arg0, %arg1, %arg2)
// CHECK-NEXT:    return
func.func @layer_norm(%x: tensor<64x256xf32>, %g: tensor<256xf32>, %b: tensor<256xf32>) -> tensor<64x256xf32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %eps = relay.constant dense<1.0e-5> : tensor<f32>
  %0 = relay.reduce_mean %x {axes = array<i64: -1>, keepdims = true} : (tensor<64x256xf32>) -> tensor<64x1xf32>
  %1 = relay.sub %x, %0 : (tensor<64x256xf32>, tensor<64x1xf32>) -> tensor<64x256xf32>
  %2 = relay.pow %1, %two : (tensor<64x256xf32>, tensor<f32>) -> tensor<64x256xf32>
  %3 = relay.reduce_mean %2 {axes = array<i64: -1>, keepdims = true} : (tensor<64x256xf32>) -> tensor<64x1xf32>
  %4 = relay.add %3, %eps : (tensor<64x1xf32>, tensor<f32>) -> tensor<64x1xf32>
  %5 = relay.sqrt %4 : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %6 = relay.div %1, %5 : (tensor<64x256xf32>, tensor<64x1xf32>) -> tensor<64x256xf32>
  %7 = relay.mul %6, %g : (tensor<64x256xf32>, tensor<256xf32>) -> tensor<64x256xf32>
  %8 = relay.add %7, %b : (tensor<64x256xf32>, tensor<256xf32>) -> tensor<64x256xf32>
  return %8 : tensor<64x256xf32>
}

// -----

// Products of one large operand become one, of which each is a piece.
// CHECK-LABEL: func.func @siblings
// CHECK-COUNT-1: relay.matmul
// CHECK-NOT:     relay.matmul
func.func @siblings(%x: tensor<4096x128xf32>) -> (tensor<4096x16xf32>, tensor<4096x16xf32>) {
  %q = relay.constant dense<0.5> : tensor<128x16xf32>
  %k = relay.constant dense<0.25> : tensor<128x16xf32>
  %0 = relay.matmul %x, %q : (tensor<4096x128xf32>, tensor<128x16xf32>) -> tensor<4096x16xf32>
  %1 = relay.matmul %x, %k : (tensor<4096x128xf32>, tensor<128x16xf32>) -> tensor<4096x16xf32>
  %2 = relay.softmax %0 {axis = 1 : i64} : (tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %3 = relay.softmax %1 {axis = 1 : i64} : (tensor<4096x16xf32>) -> tensor<4096x16xf32>
  return %2, %3 : tensor<4096x16xf32>, tensor<4096x16xf32>
}

// -----

// What has no axes is no image whose channels are scaled.
// CHECK-LABEL: func.func @scaled_by_a_number
// CHECK:         call @fused_{{.*}}conv2d
func.func @scaled_by_a_number(%x: tensor<f32>) -> tensor<1x2x3x3xf32> {
  %i = relay.constant dense<0.5> : tensor<1x4x5x5xf32>
  %w = relay.constant dense<0.25> : tensor<2x4x3x3xf32>
  %0 = relay.mul %x, %i : (tensor<f32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  %1 = relay.conv2d %0, %w : (tensor<1x4x5x5xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// -----

// Nothing to find: the program keeps its operators.
// CHECK-LABEL: func.func @unchanged
// CHECK-NEXT:    call @fused_add_exp_0(%arg0, %arg1)
func.func @unchanged(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %0 = relay.add %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = relay.exp %0 : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

// An image that becomes larger is interpolated along its rows first, then whole rows are.
// CHECK-LABEL: func.func @enlarged
// CHECK:         relay.resize %{{.*}} {{.*}}size = array<i64: 1, 4, 8, 32>
// CHECK-NEXT:    relay.resize %{{.*}} {{.*}}size = array<i64: 1, 4, 32, 32>
func.func @enlarged(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x32x32xf32> {
  %0 = relay.resize %x {method = "linear", scales = array<f64: 1.0, 1.0, 4.0, 4.0>, size = array<i64: 1, 4, 32, 32>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x32x32xf32>
  return %0 : tensor<1x4x32x32xf32>
}

// -----

// One that becomes smaller is interpolated at once: its rows by themselves would be more than the result.
// CHECK-LABEL: func.func @reduced
// CHECK:         relay.resize
// CHECK-NOT:     relay.resize
func.func @reduced(%x: tensor<1x4x64x64xf32>) -> tensor<1x4x8x8xf32> {
  %0 = relay.resize %x {method = "linear", scales = array<f64: 1.0, 1.0, 0.125, 0.125>, size = array<i64: 1, 4, 8, 8>} : (tensor<1x4x64x64xf32>) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}
