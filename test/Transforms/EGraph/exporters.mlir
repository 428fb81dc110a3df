// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s

// Forms that exporters write. Each is one kernel, as short as it can be.

// GELU with tanh: half of 1 + tanh is a sigmoid.
// CHECK-LABEL: func.func @gelu
// CHECK:         call @fused_{{.*}}sigmoid
// CHECK-NOT:     tanh
// CHECK:         return
func.func @gelu(%x: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
  %c = relay.constant dense<4.471500e-02> : tensor<f32>
  %d = relay.constant dense<0.797884583> : tensor<f32>
  %one = relay.constant dense<1.000000e+00> : tensor<f32>
  %half = relay.constant dense<5.000000e-01> : tensor<f32>
  %three = relay.constant dense<3.000000e+00> : tensor<f32>
  %0 = relay.mul %half, %x : (tensor<f32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %1 = relay.pow %x, %three : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %2 = relay.mul %1, %c : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %3 = relay.add %x, %2 : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %4 = relay.mul %3, %d : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %5 = relay.tanh %4 : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %6 = relay.add %5, %one : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %7 = relay.mul %0, %6 : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  return %7 : tensor<8x16x64xf32>
}

// -----

// SiLU as a quotient.
// CHECK-LABEL: func.func @silu
// CHECK:         call @fused_sigmoid_mul
func.func @silu(%x: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
  %one = relay.constant dense<1.000000e+00> : tensor<f32>
  %0 = relay.neg %x : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %1 = relay.exp %0 : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %2 = relay.add %1, %one : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %3 = relay.div %x, %2 : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  return %3 : tensor<8x16x64xf32>
}

// -----

// Hard-swish by a minimum and a maximum.
// CHECK-LABEL: func.func @hard_swish
// CHECK:         call @fused_{{.*}}clip
// CHECK-NOT:     imum
// CHECK:         return
func.func @hard_swish(%x: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
  %zero = relay.constant dense<0.000000e+00> : tensor<f32>
  %three = relay.constant dense<3.000000e+00> : tensor<f32>
  %six = relay.constant dense<6.000000e+00> : tensor<f32>
  %0 = relay.add %x, %three : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %1 = relay.maximum %0, %zero : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %2 = relay.minimum %1, %six : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %3 = relay.div %2, %six : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16x64xf32>
  %4 = relay.mul %x, %3 : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  return %4 : tensor<8x16x64xf32>
}

// -----

// A softmax by reductions that drop their axes, and a reciprocal.
// CHECK-LABEL: func.func @softmax
// CHECK:         call @fused_softmax_0
// CHECK-NOT:     call
// CHECK:         return
func.func @softmax(%x: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
  %1 = relay.reduce_max %x {axes = array<i64: 2>, keepdims = false} : (tensor<8x16x64xf32>) -> tensor<8x16xf32>
  %2 = relay.expand_dims %1 {axes = array<i64: -1>} : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
  %3 = relay.sub %x, %2 : (tensor<8x16x64xf32>, tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
  %4 = relay.exp %3 : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %5 = relay.reduce_sum %4 {axes = array<i64: 2>, keepdims = false} : (tensor<8x16x64xf32>) -> tensor<8x16xf32>
  %6 = relay.expand_dims %5 {axes = array<i64: -1>} : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
  %7 = relay.reciprocal %6 : (tensor<8x16x1xf32>) -> tensor<8x16x1xf32>
  %8 = relay.mul %4, %7 : (tensor<8x16x64xf32>, tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
  return %8 : tensor<8x16x64xf32>
}

// -----

// A softmax along another axis, before operator set 13.
// CHECK-LABEL: func.func @softmax_of_transpose
// CHECK:         call @fused_softmax_0
// CHECK-NOT:     call
// CHECK:         return
func.func @softmax_of_transpose(%x: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
  %0 = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<8x16x64xf32>) -> tensor<8x64x16xf32>
  %1 = relay.softmax %0 {axis = 2 : i64} : (tensor<8x64x16xf32>) -> tensor<8x64x16xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 1>} : (tensor<8x64x16xf32>) -> tensor<8x16x64xf32>
  return %2 : tensor<8x16x64xf32>
}

// -----

// Attention whose queries and keys are scaled by the root of the factor, the keys transposed without their heads.
// CHECK-LABEL: func.func @attention
// CHECK:         call @fused_attention_0
// CHECK-NOT:     call
// CHECK:         return
func.func @attention(%q: tensor<1x4x32x16xf32>, %k: tensor<1x4x32x16xf32>, %v: tensor<1x4x32x16xf32>) -> tensor<1x4x32x16xf32> {
  %2 = relay.constant dense<5.000000e-01> : tensor<1xf32>
  %3 = relay.reshape %k {shape = array<i64: 4, 32, 16>} : (tensor<1x4x32x16xf32>) -> tensor<4x32x16xf32>
  %4 = relay.transpose %3 {axes = array<i64: 0, 2, 1>} : (tensor<4x32x16xf32>) -> tensor<4x16x32xf32>
  %5 = relay.reshape %4 {shape = array<i64: 1, 4, 16, 32>} : (tensor<4x16x32xf32>) -> tensor<1x4x16x32xf32>
  %6 = relay.mul %q, %2 : (tensor<1x4x32x16xf32>, tensor<1xf32>) -> tensor<1x4x32x16xf32>
  %7 = relay.mul %5, %2 : (tensor<1x4x16x32xf32>, tensor<1xf32>) -> tensor<1x4x16x32xf32>
  %8 = relay.matmul %6, %7 : (tensor<1x4x32x16xf32>, tensor<1x4x16x32xf32>) -> tensor<1x4x32x32xf32>
  %9 = relay.softmax %8 {axis = 3 : i64} : (tensor<1x4x32x32xf32>) -> tensor<1x4x32x32xf32>
  %10 = relay.matmul %9, %v : (tensor<1x4x32x32xf32>, tensor<1x4x32x16xf32>) -> tensor<1x4x32x16xf32>
  return %10 : tensor<1x4x32x16xf32>
}

// -----

// A bias of the pair, and a mask on top of it that hides keys.
// CHECK-LABEL: func.func @masked_attention
// CHECK:         call @fused_where_add_0
// CHECK:         call @fused_attention_0
// CHECK-NOT:     call
// CHECK:         return
func.func @masked_attention(%q: tensor<8x64x32xf32>, %k: tensor<8x64x32xf32>, %v: tensor<8x64x32xf32>, %b: tensor<64x64xf32>, %m: tensor<1x64xi1>) -> tensor<8x64x32xf32> {
  %hidden = relay.constant dense<0xFF800000> : tensor<f32>
  %0 = relay.matmul %q, %k {transpose_b = true} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
  %1 = relay.add %0, %b : (tensor<8x64x64xf32>, tensor<64x64xf32>) -> tensor<8x64x64xf32>
  %2 = relay.where %m, %1, %hidden : (tensor<1x64xi1>, tensor<8x64x64xf32>, tensor<f32>) -> tensor<8x64x64xf32>
  %3 = relay.softmax %2 {axis = 2 : i64} : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %4 = relay.matmul %3, %v : (tensor<8x64x64xf32>, tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %4 : tensor<8x64x32xf32>
}

// -----

// Attention of halves is one kernel as well.
// CHECK-LABEL: func.func @attention_of_halves
// CHECK:         call @fused_attention_0
// CHECK-NOT:     call
// CHECK:         return
func.func @attention_of_halves(%q: tensor<8x64x32xf16>, %k: tensor<8x64x32xf16>, %v: tensor<8x64x32xf16>) -> tensor<8x64x32xf16> {
  %0 = relay.matmul %q, %k {transpose_b = true} : (tensor<8x64x32xf16>, tensor<8x64x32xf16>) -> tensor<8x64x64xf16>
  %1 = relay.softmax %0 {axis = 2 : i64} : (tensor<8x64x64xf16>) -> tensor<8x64x64xf16>
  %2 = relay.matmul %1, %v : (tensor<8x64x64xf16>, tensor<8x64x32xf16>) -> tensor<8x64x32xf16>
  return %2 : tensor<8x64x32xf16>
}

// -----

// A layer normalization whose root is a power.
// CHECK-LABEL: func.func @layer_norm_by_power
// CHECK:         call @fused_layer_norm_0
// CHECK-NOT:     call
// CHECK:         return
func.func @layer_norm_by_power(%x: tensor<32x64xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<32x64xf32> {
  %eps = relay.constant dense<1.000000e-05> : tensor<f32>
  %root = relay.constant dense<-5.000000e-01> : tensor<f32>
  %0 = relay.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<32x64xf32>) -> tensor<32x1xf32>
  %1 = relay.sub %x, %0 : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %2 = relay.mul %1, %1 : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %3 = relay.reduce_mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<32x64xf32>) -> tensor<32x1xf32>
  %4 = relay.add %3, %eps : (tensor<32x1xf32>, tensor<f32>) -> tensor<32x1xf32>
  %5 = relay.pow %4, %root : (tensor<32x1xf32>, tensor<f32>) -> tensor<32x1xf32>
  %6 = relay.mul %1, %5 : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %7 = relay.mul %6, %g : (tensor<32x64xf32>, tensor<64xf32>) -> tensor<32x64xf32>
  %8 = relay.add %7, %b : (tensor<32x64xf32>, tensor<64xf32>) -> tensor<32x64xf32>
  return %8 : tensor<32x64xf32>
}

// -----

// ReduceLogSumExp taken from its operand, as importers write it: the exponential of that is a softmax, where no logit is infinity.
// CHECK-LABEL: func.func @softmax_by_log_sum_exp
// CHECK:         call @fused_minimum_softmax_0
// CHECK-NOT:     call
// CHECK:         return
// CHECK-LABEL: func.func private @fused_minimum_softmax_0
// CHECK:         relay.softmax
func.func @softmax_by_log_sum_exp(%logits: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %zero = relay.constant dense<0.000000e+00> : tensor<f32>
  %most = relay.constant dense<4.000000e+01> : tensor<f32>
  %x = relay.minimum %logits, %most : (tensor<32x64xf32>, tensor<f32>) -> tensor<32x64xf32>
  %0 = relay.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<32x64xf32>) -> tensor<32x1xf32>
  %1 = relay.is_inf %0 : (tensor<32x1xf32>) -> tensor<32x1xi1>
  %2 = relay.where %1, %zero, %0 : (tensor<32x1xi1>, tensor<f32>, tensor<32x1xf32>) -> tensor<32x1xf32>
  %3 = relay.sub %x, %2 : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %4 = relay.exp %3 : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %5 = relay.reduce_sum %4 {axes = array<i64: 1>, keepdims = true} : (tensor<32x64xf32>) -> tensor<32x1xf32>
  %6 = relay.log %5 : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %7 = relay.add %6, %2 : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
  %8 = relay.sub %x, %7 : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %9 = relay.exp %8 : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %9 : tensor<32x64xf32>
}

// -----

// A division by a number takes longer than a product with its inverse.
// CHECK-LABEL: func.func @quotient
// CHECK:         call @fused_mul_tanh_0
// CHECK-NOT:     call
// CHECK:         return
func.func @quotient(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %c = relay.constant dense<8.0> : tensor<f32>
  %0 = relay.div %x, %c : (tensor<32x64xf32>, tensor<f32>) -> tensor<32x64xf32>
  %1 = relay.tanh %0 : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}

// -----

// Bias and activation are taken of the greatest elements alone.
// CHECK-LABEL: func.func @bias_and_pool
// CHECK:       func.func private @fused_max_pool2d_add_relu_0
func.func @bias_and_pool(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x32x32xf32> {
  %b = relay.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]], [[8.0]]]> : tensor<8x1x1xf32>
  %0 = relay.add %x, %b : (tensor<1x8x64x64xf32>, tensor<8x1x1xf32>) -> tensor<1x8x64x64xf32>
  %1 = relay.relu %0 : (tensor<1x8x64x64xf32>) -> tensor<1x8x64x64xf32>
  %2 = relay.max_pool2d %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x64x64xf32>) -> tensor<1x8x32x32xf32>
  return %2 : tensor<1x8x32x32xf32>
}

// -----

// Pixels that are scaled and centred before patches are embedded: the scale goes into the weight, what is subtracted into the bias.
// CHECK-LABEL: func.func @centred_patches
// CHECK:         call @fused_conv2d_add_0
// CHECK-NOT:     call
// CHECK:         return
func.func @centred_patches(%x: tensor<1x3x32x32xf32>) -> tensor<1x16x4x4xf32> {
  %scale = relay.constant dense<0.00392156886> : tensor<f32>
  %mean = relay.constant dense<[[[0.5]], [[0.25]], [[0.75]]]> : tensor<3x1x1xf32>
  %w = relay.constant dense<0.125> : tensor<16x3x8x8xf32>
  %0 = relay.mul %x, %scale : (tensor<1x3x32x32xf32>, tensor<f32>) -> tensor<1x3x32x32xf32>
  %1 = relay.sub %0, %mean : (tensor<1x3x32x32xf32>, tensor<3x1x1xf32>) -> tensor<1x3x32x32xf32>
  %2 = relay.conv2d %1, %w {strides = array<i64: 8, 8>} : (tensor<1x3x32x32xf32>, tensor<16x3x8x8xf32>) -> tensor<1x16x4x4xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// -----

// Pixels that nothing has rounded yet are centred first: where one is the mean, nothing is left of it.
// CHECK-LABEL: func.func @exact_pixels
// CHECK:         relay.sub
// CHECK:         relay.conv2d
func.func @exact_pixels(%x: tensor<1x3x32x32xf32>) -> tensor<1x16x4x4xf32> {
  %mean = relay.constant dense<[[[0.5]], [[0.25]], [[0.75]]]> : tensor<3x1x1xf32>
  %w = relay.constant dense<0.125> : tensor<16x3x8x8xf32>
  %0 = relay.sub %x, %mean : (tensor<1x3x32x32xf32>, tensor<3x1x1xf32>) -> tensor<1x3x32x32xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 8, 8>} : (tensor<1x3x32x32xf32>, tensor<16x3x8x8xf32>) -> tensor<1x16x4x4xf32>
  return %1 : tensor<1x16x4x4xf32>
}
