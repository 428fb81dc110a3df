// RUN: fusion-opt %s --relay-fuse-ops --split-input-file | FileCheck %s

// The epilogue goes on while all uses come together again: sigmoid and the product with its own operand.
// CHECK-LABEL: func.func @epilogue
// CHECK-NEXT:    call @fused_conv2d_add_sigmoid_mul_0(%arg0, %arg1, %arg2)
// CHECK-NEXT:    return
// CHECK:       func.func private @fused_conv2d_add_sigmoid_mul_0(
// CHECK-SAME:    attributes {relay.primitive}
// CHECK-NEXT:    relay.conv2d %arg0, %arg1
// CHECK-NEXT:    relay.add %0, %arg2
// CHECK-NEXT:    relay.sigmoid %1
// CHECK-NEXT:    relay.mul %1, %2
// CHECK-NEXT:    return
func.func @epilogue(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.add %0, %b : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.sigmoid %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %3 = relay.mul %1, %2 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %3 : tensor<1x4x6x6xf32>
}

// -----

// A value that is also needed outside ends its group.
// CHECK-LABEL: func.func @used_twice
// CHECK-NEXT:    %[[A:.*]] = call @fused_dense_relu_0
// CHECK-NEXT:    %[[B:.*]] = call @fused_exp_0(%[[A]])
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @used_twice(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = relay.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = relay.exp %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// One contraction a group: the residual sum goes to the first one.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    %[[B:.*]] = call @fused_dense_0(%arg1, %arg2)
// CHECK-NEXT:    call @fused_dense_add_relu_0(%arg0, %arg2, %[[B]])
func.func @residual(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %0 = relay.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = relay.dense %y, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = relay.add %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = relay.relu %2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// -----

// An epilogue has the shape of the contraction: a sum that repeats its result is outside, and so is one that
// was grouped with such a sum before.
// CHECK-LABEL: func.func @larger_epilogue
// CHECK-NEXT:    %[[A:.*]] = call @fused_dense_0
// CHECK-NEXT:    call @fused_neg_add_broadcast_to_add_0(%arg2, %[[A]])
func.func @larger_epilogue(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>, %y: tensor<1x4xf32>, %z: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = relay.neg %y : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = relay.dense %x, %w : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  %2 = relay.add %1, %0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = relay.broadcast_to %0 {shape = array<i64: 3, 4>} : (tensor<1x4xf32>) -> tensor<3x4xf32>
  %4 = relay.add %3, %2 : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %4 : tensor<3x4xf32>
}

// -----

// Nothing is computed while a contraction reads.
// CHECK-LABEL: func.func @no_prologue
// CHECK-NEXT:    %[[A:.*]] = call @fused_relu_transpose_0(%arg0)
// CHECK-NEXT:    call @fused_dense_0(%[[A]], %arg1)
func.func @no_prologue(%x: tensor<8x2xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %0 = relay.relu %x : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %1 = relay.transpose %0 : (tensor<8x2xf32>) -> tensor<2x8xf32>
  %2 = relay.dense %1, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// A reduction reads through what is elementwise or injective, and goes on elementwise on what it gave.
// CHECK-LABEL: func.func @reduction
// CHECK-NEXT:    %[[A:.*]] = call @fused_mul_transpose_reduce_sum_sqrt_0(%arg0)
// CHECK-NEXT:    call @fused_sub_0(%arg0, %[[A]])
func.func @reduction(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relay.mul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.transpose %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relay.reduce_sum %1 {axes = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %3 = relay.sqrt %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relay.sub %x, %3 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A reduction on one of the paths keeps the paths' ends apart when it combines elements of all rows.
// CHECK-LABEL: func.func @reduction_between
// CHECK-NEXT:    %[[E:.*]] = call @fused_exp_0(%arg0)
// CHECK-NEXT:    %[[S:.*]] = call @fused_reduce_sum_0(%[[E]])
// CHECK-NEXT:    call @fused_div_0(%[[E]], %[[S]])
func.func @reduction_between(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = relay.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = relay.reduce_sum %0 {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %2 = relay.div %0, %1 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Where each row has a reduction of its own, all that goes over the rows is one kernel.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    %[[Y:.*]] = call @fused_reduce_mean_sub_mul_reduce_mean_sqrt_div_0(%arg0)
// CHECK-NEXT:    return %[[Y]]
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = relay.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = relay.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = relay.mul %1, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = relay.reduce_mean %2 {axes = array<i64: -1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = relay.sqrt %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = relay.div %1, %4 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// An operand of fewer axes is aligned with the last ones: the sums of the rows are not read by row.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT:    %[[E:.*]] = call @fused_exp_0(%arg0)
// CHECK-NEXT:    %[[S:.*]] = call @fused_reduce_sum_0(%[[E]])
// CHECK-NEXT:    call @fused_div_0(%[[E]], %[[S]])
func.func @columns(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relay.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.reduce_sum %0 {axes = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = relay.div %0, %1 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Reshapes at the beginning and the end stay outside as views; one between two operators does not.
// CHECK-LABEL: func.func @views
// CHECK-NEXT:    %[[V:.*]] = relay.reshape %arg0
// CHECK-NEXT:    %[[A:.*]] = call @fused_neg_reshape_exp_0(%[[V]])
// CHECK-NEXT:    %[[S:.*]] = relay.squeeze %[[A]]
// CHECK-NEXT:    return %[[S]]
func.func @views(%x: tensor<2x6xf32>) -> tensor<6x2xf32> {
  %0 = relay.reshape %x {shape = array<i64: 3, 4>} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = relay.neg %0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = relay.reshape %1 {shape = array<i64: 6, 1, 2>} : (tensor<3x4xf32>) -> tensor<6x1x2xf32>
  %3 = relay.exp %2 : (tensor<6x1x2xf32>) -> tensor<6x1x2xf32>
  %4 = relay.squeeze %3 {axes = array<i64: 1>} : (tensor<6x1x2xf32>) -> tensor<6x2xf32>
  return %4 : tensor<6x2xf32>
}

// -----

// Views between operators that fuse with nothing are left alone.
// CHECK-LABEL: func.func @only_views
// CHECK-NEXT:    call @fused_softmax_0
// CHECK-NEXT:    relay.reshape
// CHECK-NEXT:    relay.expand_dims
// CHECK-NEXT:    call @fused_softmax_1
func.func @only_views(%x: tensor<2x6xf32>) -> tensor<1x12xf32> {
  %0 = relay.softmax %x : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = relay.reshape %0 {shape = array<i64: 12>} : (tensor<2x6xf32>) -> tensor<12xf32>
  %2 = relay.expand_dims %1 {axes = array<i64: 0>} : (tensor<12xf32>) -> tensor<1x12xf32>
  %3 = relay.softmax %2 : (tensor<1x12xf32>) -> tensor<1x12xf32>
  return %3 : tensor<1x12xf32>
}

// -----

// Constants of one number go into the group, others are passed.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    call @fused_mul_add_0(%arg0, %[[C]])
// CHECK-NEXT:    return
// CHECK:       func.func private @fused_mul_add_0
// CHECK-NEXT:    relay.constant dense<3.000000e+00> : tensor<2xf32>
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = relay.constant dense<3.0> : tensor<2xf32>
  %0 = relay.mul %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.add %0, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Groups that are the same share a function; another attribute makes another function.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT:    call @fused_reduce_max_0(%arg0)
// CHECK-NEXT:    call @fused_reduce_max_0(%arg1)
// CHECK-NEXT:    call @fused_reduce_max_1(%arg1)
// CHECK:       func.func private @fused_reduce_max_0
// CHECK:       func.func private @fused_reduce_max_1
// CHECK-NOT:   func.func
func.func @shared(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.reduce_max %x {axes = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %1 = relay.reduce_max %y {axes = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = relay.reduce_max %y {axes = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Operators of several results stay alone.
// CHECK-LABEL: func.func @several_results
// CHECK-NEXT:    %[[A:.*]] = call @fused_neg_0
// CHECK-NEXT:    %[[B:.*]]:2 = call @fused_split_0(%[[A]])
// CHECK-NEXT:    call @fused_add_0(%[[B]]#0, %[[B]]#1)
func.func @several_results(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = relay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = relay.split %0 {axis = 0 : i64, sections = array<i64: 2, 2>} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = relay.add %1#0, %1#1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Each region is fused for itself; what it takes from outside is passed.
// CHECK-LABEL: func.func @regions
// CHECK-NEXT:    %[[E:.*]] = call @fused_exp_0(%arg1)
// CHECK-NEXT:    relay.if %arg0 {
// CHECK-NEXT:      call @fused_neg_relu_0(%[[E]])
// CHECK-NEXT:      relay.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %[[E]]
func.func @regions(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.if %c {
    %2 = relay.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = relay.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %3 : tensor<4xf32>
  } else {
    relay.yield %0 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Extents that are not known are not taken to be equal; operators of one operand need not ask.
// CHECK-LABEL: func.func @unknown_extents
// CHECK-NEXT:    %[[A:.*]] = call @fused_dense_relu_0
// CHECK-NEXT:    call @fused_add_0(%[[A]], %arg2)
func.func @unknown_extents(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = relay.dense %x, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  %1 = relay.relu %0 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = relay.add %1, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// A function that is one group already stays as it is.
// CHECK-LABEL: func.func private @done
// CHECK-NEXT:    relay.neg
// CHECK-NOT:   func.func
func.func private @done(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %0 = relay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
