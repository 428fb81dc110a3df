// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=znver4 --relay-optimize=off=inner-product-trick --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=znver4 --relay-optimize=off=strassen+inner-product-trick --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=nvidia:sm_80 --relay-optimize --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --relay-optimize --split-input-file | FileCheck %s --check-prefix=OFF

// The sums of the right side are a kernel, those of the left side and of the products are made in the product's.
// CHECK-LABEL: func.func @large
// CHECK-NEXT:    %[[SUMS:.*]] = call @fused_strassen_sums_0(%arg1) : (tensor<512x512xf32>) -> tensor<7x256x256xf32>
// CHECK-NEXT:    {{.*}} call @fused_matmul_strassen_0(%arg0, %[[SUMS]])
// CHECK-NEXT:    return
// OFF-LABEL: func.func @large
// OFF:         call @fused_matmul_0
// OFF-NEXT:    return
func.func @large(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Of a constant the sums are made when compiling, also of a transposed one; a bias goes into the kernel.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %[[SUMS:.*]] = relay.constant {{.*}} : tensor<7x256x384xf32>
// CHECK-NEXT:    {{.*}} call @fused_matmul_strassen_add_0(%arg0, %[[SUMS]], %arg1)
// CHECK-NEXT:    return
// OFF-LABEL: func.func @dense
// OFF:         call @fused_{{dense|matmul}}_add
// OFF-NEXT:    return
func.func @dense(%x: tensor<256x512xf32>, %b: tensor<768xf32>) -> tensor<256x768xf32> {
  %r = relay.arange {dtype = f32, size = 393216 : i64} : () -> tensor<393216xf32>
  %s = relay.sin %r : (tensor<393216xf32>) -> tensor<393216xf32>
  %w = relay.reshape %s {shape = array<i64: 768, 512>} : (tensor<393216xf32>) -> tensor<768x512xf32>
  %0 = relay.matmul %x, %w {transpose_b = true} : (tensor<256x512xf32>, tensor<768x512xf32>) -> tensor<256x768xf32>
  %1 = relay.add %0, %b : (tensor<256x768xf32>, tensor<768xf32>) -> tensor<256x768xf32>
  return %1 : tensor<256x768xf32>
}

// -----

// Of few rows as well: a product of 16 by a constant. What follows pieces of its columns is in the kernel.
// CHECK-LABEL: func.func @gated
// CHECK:         call @fused_matmul_strassen_slice_slice_sigmoid_mul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @gated
// OFF-NOT:     by_halves
func.func @gated(%x: tensor<16x512xf32>) -> tensor<16x256xf32> {
  %r = relay.arange {dtype = f32, size = 262144 : i64} : () -> tensor<262144xf32>
  %s = relay.sin %r : (tensor<262144xf32>) -> tensor<262144xf32>
  %w = relay.reshape %s {shape = array<i64: 512, 512>} : (tensor<262144xf32>) -> tensor<512x512xf32>
  %0 = relay.matmul %x, %w : (tensor<16x512xf32>, tensor<512x512xf32>) -> tensor<16x512xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<16x512xf32>) -> tensor<16x256xf32>
  %2 = relay.slice %0 {begin = array<i64: 256>, end = array<i64: 512>, axes = array<i64: 1>} : (tensor<16x512xf32>) -> tensor<16x256xf32>
  %3 = relay.sigmoid %2 : (tensor<16x256xf32>) -> tensor<16x256xf32>
  %4 = relay.mul %1, %3 : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  return %4 : tensor<16x256xf32>
}

// -----

// A piece of three would lie in both halves: its gates are a kernel of their own.
// CHECK-LABEL: func.func @three_pieces
// CHECK:         call @fused_matmul_strassen_0
// CHECK-NEXT:    call @fused_slice
// CHECK-NEXT:    return
// OFF-LABEL: func.func @three_pieces
func.func @three_pieces(%x: tensor<16x512xf32>) -> tensor<16x256xf32> {
  %r = relay.arange {dtype = f32, size = 393216 : i64} : () -> tensor<393216xf32>
  %s = relay.sin %r : (tensor<393216xf32>) -> tensor<393216xf32>
  %w = relay.reshape %s {shape = array<i64: 512, 768>} : (tensor<393216xf32>) -> tensor<512x768xf32>
  %0 = relay.matmul %x, %w : (tensor<16x512xf32>, tensor<512x768xf32>) -> tensor<16x768xf32>
  %1 = relay.slice %0 {begin = array<i64: 0>, end = array<i64: 256>, axes = array<i64: 1>} : (tensor<16x768xf32>) -> tensor<16x256xf32>
  %2 = relay.slice %0 {begin = array<i64: 256>, end = array<i64: 512>, axes = array<i64: 1>} : (tensor<16x768xf32>) -> tensor<16x256xf32>
  %3 = relay.slice %0 {begin = array<i64: 512>, end = array<i64: 768>, axes = array<i64: 1>} : (tensor<16x768xf32>) -> tensor<16x256xf32>
  %4 = relay.sigmoid %2 : (tensor<16x256xf32>) -> tensor<16x256xf32>
  %5 = relay.mul %1, %4 : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  %6 = relay.add %5, %3 : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  return %6 : tensor<16x256xf32>
}

// -----

// What is moved takes longer than what is spared.
// CHECK-LABEL: func.func @small
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @small
func.func @small(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = relay.matmul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @thin
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @thin
func.func @thin(%x: tensor<16x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<16x1024xf32> {
  %0 = relay.matmul %x, %y : (tensor<16x1024xf32>, tensor<1024x1024xf32>) -> tensor<16x1024xf32>
  return %0 : tensor<16x1024xf32>
}

// -----

// Halves of its rows fill no vectors.
// CHECK-LABEL: func.func @odd
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @odd
func.func @odd(%x: tensor<512x512xf32>, %y: tensor<512x528xf32>) -> tensor<512x528xf32> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf32>, tensor<512x528xf32>) -> tensor<512x528xf32>
  return %0 : tensor<512x528xf32>
}

// -----

// Halves are multiplied in f32, and so by Strassen's algorithm.
// CHECK-LABEL: func.func @f16
// CHECK:         call @fused_strassen_sums_0
// CHECK:         call @fused_matmul_strassen_cast_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @f16
func.func @f16(%x: tensor<512x512xf16>, %y: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

// -----

// The product of a leading axis is a view of one of two axes, which is computed by Strassen's algorithm.
// CHECK-LABEL: func.func @leading
// CHECK-NEXT:    {{.*}} call @fused_strassen_sums_0
// CHECK:         call @fused_matmul_strassen_0
// OFF-LABEL: func.func @leading
// OFF-COUNT-1: call @fused_matmul
// OFF-NEXT:    return
func.func @leading(%x: tensor<1x512x512xf32>, %y: tensor<512x512xf32>) -> tensor<1x512x512xf32> {
  %0 = relay.matmul %x, %y : (tensor<1x512x512xf32>, tensor<512x512xf32>) -> tensor<1x512x512xf32>
  return %0 : tensor<1x512x512xf32>
}

// -----

// What no near cache holds waits for memory between tiles: a result of 8 MB.
// CHECK-LABEL: func.func @many_rows
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @many_rows
func.func @many_rows(%x: tensor<4096x128xf32>, %y: tensor<128x512xf32>) -> tensor<4096x512xf32> {
  %0 = relay.matmul %x, %y : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32>
  return %0 : tensor<4096x512xf32>
}

// -----

// A right side that is transposed would have to be moved.
// CHECK-LABEL: func.func @transposed
// CHECK:         call @fused_matmul_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @transposed
func.func @transposed(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = relay.matmul %x, %y {transpose_b = true} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
