// RUN: fusion-opt %s --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// Elementwise code: a thread an element, 256 a block.
// CHECK-LABEL: te.schedule for @fused_relu_0
// CHECK:         %[[O:.*]], %[[I:.*]] = te.split %{{.*}} by 256 tail guard
// CHECK-NEXT:    te.bind %[[O]] to block_x
// CHECK-NEXT:    te.bind %[[I]] to thread_x
func.func @main(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %0 = relay.relu %x : (tensor<100x33xf32>) -> tensor<100x33xf32>
  return %0 : tensor<100x33xf32>
}

// -----

// Rows of a softmax: a block each, whose threads share the reductions and keep the row in shared memory.
// CHECK-LABEL: te.schedule for @fused_softmax_0
// CHECK:         te.bind %{{.*}} to block_x
// CHECK:         te.compute_at
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK:         te.set_scope %{{.*}} to shared
func.func @main(%x: tensor<512x2048xf32>) -> tensor<512x2048xf32> {
  %0 = relay.softmax %x : (tensor<512x2048xf32>) -> tensor<512x2048xf32>
  return %0 : tensor<512x2048xf32>
}

// -----

// A product of matrices: a tile a block, whose operands are copied to shared memory at each step of the reduction.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         te.cache_write %{{.*}} as "sums_of_matmul"
// CHECK:         te.bind %{{.*}} to block_y
// CHECK:         te.bind %{{.*}} to block_x
// CHECK:         te.bind %{{.*}} to thread_y
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK:         %[[A:.*]] = te.cache_read %{{.*}} as "rows_of_sums_of_matmul"
// CHECK-NEXT:    te.compute_at %[[A]]
// CHECK-NEXT:    te.set_scope %[[A]] to shared
// CHECK:         te.cache_read %{{.*}} as "columns_of_sums_of_matmul"
func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x384xf32>) -> tensor<512x384xf32> {
  %0 = relay.matmul %x, %w : (tensor<512x256xf32>, tensor<256x384xf32>) -> tensor<512x384xf32>
  return %0 : tensor<512x384xf32>
}

// -----

// Operands are copied 16 bytes at a time, padded, into three tiles that take turns.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         %[[A:.*]] = te.cache_read %{{.*}} as "rows_of_sums_of_matmul"
// CHECK-NEXT:    te.compute_at %[[A]]
// CHECK-NEXT:    te.set_scope %[[A]] to shared
// CHECK-NEXT:    te.transform_layout %[[A]]
// CHECK-NEXT:    te.storage_align %[[A]] dim 0 by 8 offset 4
// CHECK-NEXT:    te.double_buffer %[[A]] by 3
// CHECK:         te.split %{{.*}} by 4
// CHECK-NEXT:    te.vectorize
func.func @main(%x: tensor<2048x1024xf32>, %w: tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = relay.matmul %x, %w : (tensor<2048x1024xf32>, tensor<1024x2048xf32>) -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}

// -----

// Few blocks and a long reduction: parts of it are computed by blocks of their own, and then added up.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         te.split %{{.*}} by 256
// CHECK-NEXT:    %[[P:.*]] = te.rfactor %{{.*}} as "parts_of_matmul"
// CHECK:         te.cache_write %[[P]] as "sums_of_parts_of_matmul"
// CHECK:         te.bind %{{.*}} to block_z
func.func @main(%x: tensor<64x8192xf32>, %w: tensor<8192x64xf32>) -> tensor<64x64xf32> {
  %0 = relay.matmul %x, %w : (tensor<64x8192xf32>, tensor<8192x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// By matrix instructions as well; each part's results lie together.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         %[[P:.*]] = te.rfactor %{{.*}} as "parts_of_matmul"
// CHECK:         %[[S:.*]] = te.cache_write %[[P]] as "sums_of_parts_of_matmul"
// CHECK:         te.bind %{{.*}} to block_z
// CHECK:         te.tensorize %{{.*}} with @mma_m16n8k16_f16_rows
// CHECK-NEXT:    te.transform_layout %[[P]] by
func.func @main(%x: tensor<64x8192xf16>, %w: tensor<8192x64xf16>) -> tensor<64x64xf16> {
  %0 = relay.matmul %x, %w : (tensor<64x8192xf16>, tensor<8192x64xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

// A thread has 16 bytes of a row that is read at a place from data, and of what is added to every row.
// CHECK-LABEL: te.schedule for @fused_gather_add_0
// CHECK:         %[[J:.*]], %[[L:.*]] = te.split %{{.*}} by 4
// CHECK-NEXT:    te.vectorize %[[L]]
// CHECK-NEXT:    te.fuse %{{.*}}, %[[J]]
func.func @main(%x: tensor<30000x768xf32>, %at: tensor<4096xi64>, %b: tensor<768xf32>) -> tensor<4096x768xf32> {
  %0 = relay.gather %x, %at {axis = 0 : i64} : (tensor<30000x768xf32>, tensor<4096xi64>) -> tensor<4096x768xf32>
  %1 = relay.add %0, %b : (tensor<4096x768xf32>, tensor<768xf32>) -> tensor<4096x768xf32>
  return %1 : tensor<4096x768xf32>
}

// -----

// Where each element of a row is read elsewhere, the places are read 16 bytes at a time, and the results stored so.
// CHECK-LABEL: te.schedule for @fused_gather_elements_0
// CHECK:         %[[J:.*]], %[[L:.*]] = te.split %{{.*}} by 4
// CHECK-NEXT:    te.vectorize %[[L]]
// CHECK-NEXT:    te.fuse %{{.*}}, %[[J]]
func.func @main(%x: tensor<4096x768xf32>, %at: tensor<4096x768xi64>) -> tensor<4096x768xf32> {
  %0 = relay.gather_elements %x, %at {axis = 1 : i64} : (tensor<4096x768xf32>, tensor<4096x768xi64>) -> tensor<4096x768xf32>
  return %0 : tensor<4096x768xf32>
}

// -----

// The sum of one long row is cut into parts as well.
// CHECK-LABEL: te.schedule for @fused_reduce_sum_0
// CHECK:         te.rfactor %{{.*}} as "parts_of_reduce_sum"
func.func @main(%x: tensor<1x65536xf32>) -> tensor<1xf32> {
  %0 = relay.reduce_sum %x {axes = array<i64: 1>} : (tensor<1x65536xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// A transpose: squares of 32 x 32 go through shared memory, whose rows are 33 elements apart.
// CHECK-LABEL: te.schedule for @fused_transpose_0
// CHECK:         te.bind %{{.*}} to block_y
// CHECK:         %[[T:.*]] = te.cache_read %{{.*}} as "square_0_of_transpose"
// CHECK-NEXT:    te.compute_at %[[T]]
// CHECK-NEXT:    te.set_scope %[[T]] to shared
// CHECK-NEXT:    te.storage_align %[[T]] dim 0 by 32 offset 1
func.func @main(%x: tensor<100x70xf32>) -> tensor<70x100xf32> {
  %0 = relay.transpose %x : (tensor<100x70xf32>) -> tensor<70x100xf32>
  return %0 : tensor<70x100xf32>
}

// -----

// A product of f16: by the matrix instruction that reads both operands as they lie, whose sums are a fragment of each warp.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK:         te.bind %{{.*}} to block_y
// CHECK:         te.bind %{{.*}} to block_x
// CHECK:         te.bind %{{.*}} to thread_z
// CHECK:         te.bind %{{.*}} to thread_y
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK:         te.set_scope %{{.*}} to fragment
// CHECK:         te.cache_read %{{.*}} as "rows_of_matmul"
// CHECK:         te.cache_read %{{.*}} as "columns_of_matmul"
// CHECK:         te.tensorize %{{.*}} with @mma_m16n8k16_f16_rows
func.func @main(%x: tensor<512x256xf16>, %w: tensor<256x384xf16>) -> tensor<512x384xf16> {
  %0 = relay.matmul %x, %w : (tensor<512x256xf16>, tensor<256x384xf16>) -> tensor<512x384xf16>
  return %0 : tensor<512x384xf16>
}

// -----

// What is summed up has no multiple of the instruction's depth: zeros are added.
// CHECK-LABEL: te.schedule for @fused_dense_0
// CHECK:         te.split %{{.*}} by 32 tail pad
// CHECK:         te.tensorize %{{.*}} with @mma_m16n8k16_bf16
func.func @main(%x: tensor<512x250xbf16>, %w: tensor<384x250xbf16>) -> tensor<512x384xbf16> {
  %0 = relay.dense %x, %w : (tensor<512x250xbf16>, tensor<384x250xbf16>) -> tensor<512x384xbf16>
  return %0 : tensor<512x384xbf16>
}

// -----

// A depthwise convolution: the padding is a condition of each read, a thread has 2 x 4 results, and its window is unrolled.
// CHECK-LABEL: te.schedule for @fused_conv2d_relu_0
// CHECK:         %[[PAD:.*]] = te.stage "pad"
// CHECK-NEXT:    te.compute_inline %[[PAD]]
// CHECK:         te.split %{{.*}} by 2
// CHECK:         te.split %{{.*}} by 4
// CHECK:         te.bind %{{.*}} to block_x
// CHECK:         %[[THREAD:.*]] =
// CHECK:         te.compute_at
// CHECK:         te.reorder
// CHECK-COUNT-4: te.unroll
func.func @main(%x: tensor<8x144x56x56xf32>, %w: tensor<144x1x3x3xf32>) -> tensor<8x144x56x56xf32> {
  %0 = relay.conv2d %x, %w {groups = 144 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<8x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<8x144x56x56xf32>
  %1 = relay.relu %0 : (tensor<8x144x56x56xf32>) -> tensor<8x144x56x56xf32>
  return %1 : tensor<8x144x56x56xf32>
}

// -----

// Of a few results each thread has one.
// CHECK-LABEL: te.schedule for @fused_max_pool2d_0
// CHECK:         %[[PAD:.*]] = te.stage "pad"
// CHECK-NEXT:    te.compute_inline %[[PAD]]
// CHECK-NOT:     te.unroll
// CHECK:         te.bind %{{.*}} to thread_x
// CHECK-NOT:     te.bind
func.func @main(%x: tensor<1x3x20x20xf32>) -> tensor<1x3x10x10xf32> {
  %0 = relay.max_pool2d %x {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x20x20xf32>) -> tensor<1x3x10x10xf32>
  return %0 : tensor<1x3x10x10xf32>
}

// -----

// More tiles than there can be blocks along z: all of them go along x.
// CHECK-LABEL: te.schedule for @fused_batch_matmul_0
// CHECK-NOT:     block_{{[yz]}}
// CHECK:         te.bind %{{.*}} to block_x
// CHECK-NOT:     block_{{[yz]}}
func.func @main(%x: tensor<100000x16x32xf32>, %w: tensor<100000x32x16xf32>) -> tensor<100000x16x16xf32> {
  %0 = relay.batch_matmul %x, %w : (tensor<100000x16x32xf32>, tensor<100000x32x16xf32>) -> tensor<100000x16x16xf32>
  return %0 : tensor<100000x16x16xf32>
}

// -----

// More rows of tiles than there can be blocks along y.
// CHECK-LABEL: te.schedule for @fused_matmul_0
// CHECK-NOT:     block_y
// CHECK:         te.bind %{{.*}} to block_x
// CHECK-NOT:     block_y
func.func @main(%x: tensor<9000000x32xf32>, %w: tensor<32x64xf32>) -> tensor<9000000x64xf32> {
  %0 = relay.matmul %x, %w : (tensor<9000000x32xf32>, tensor<32x64xf32>) -> tensor<9000000x64xf32>
  return %0 : tensor<9000000x64xf32>
}
