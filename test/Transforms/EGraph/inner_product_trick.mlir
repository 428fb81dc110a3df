// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=znver4 --relay-optimize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=znver4 --relay-optimize=off=inner-product-trick+strassen --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=x86-64-v4 --relay-optimize=off=strassen --split-input-file | FileCheck %s --check-prefix=OFF
// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --relay-optimize --split-input-file | FileCheck %s --check-prefix=OFF

// What is of the right side is a kernel.
// CHECK-LABEL: func.func @both_given
// CHECK-NEXT:    %[[RIGHT:.*]] = call @fused_inner_product_trick_right_0(%arg1) : (tensor<512x512xf32>) -> tensor<518x512xf32>
// CHECK-NEXT:    {{.*}} call @fused_matmul_inner_product_trick_0(%arg0, %[[RIGHT]])
// CHECK-NEXT:    return
// OFF-LABEL: func.func @both_given
// OFF:         call @fused_matmul_0
// OFF-NEXT:    return
func.func @both_given(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Of a constant it is made when compiling, also of a transposed one; a bias goes into the kernel.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %[[RIGHT:.*]] = relay.constant {{.*}} : tensor<518x768xf32>
// CHECK-NEXT:    {{.*}} call @fused_matmul_inner_product_trick_add_0(%arg0, %[[RIGHT]], %arg1)
// CHECK-NEXT:    return
// OFF-LABEL: func.func @dense
// OFF:         call @fused_{{dense|matmul}}_add
func.func @dense(%x: tensor<256x512xf32>, %b: tensor<768xf32>) -> tensor<256x768xf32> {
  %r = relay.arange {dtype = f32, size = 393216 : i64} : () -> tensor<393216xf32>
  %s = relay.sin %r : (tensor<393216xf32>) -> tensor<393216xf32>
  %w = relay.reshape %s {shape = array<i64: 768, 512>} : (tensor<393216xf32>) -> tensor<768x512xf32>
  %0 = relay.matmul %x, %w {transpose_b = true} : (tensor<256x512xf32>, tensor<768x512xf32>) -> tensor<256x768xf32>
  %1 = relay.add %0, %b : (tensor<256x768xf32>, tensor<768xf32>) -> tensor<256x768xf32>
  return %1 : tensor<256x768xf32>
}

// -----

// A convolution by a kernel of 1 x 1.
// CHECK-LABEL: func.func @pointwise
// CHECK-NEXT:    relay.constant {{.*}} : tensor<98x576xf32>
// CHECK-NEXT:    {{.*}} call @fused_conv2d_inner_product_trick_relu_0
// CHECK-NEXT:    return
// OFF-LABEL: func.func @pointwise
// OFF:         call @fused_{{.*}}conv2d_relu
func.func @pointwise(%x: tensor<1x96x14x14xf32>) -> tensor<1x576x14x14xf32> {
  %r = relay.arange {dtype = f32, size = 55296 : i64} : () -> tensor<55296xf32>
  %s = relay.sin %r : (tensor<55296xf32>) -> tensor<55296xf32>
  %w = relay.reshape %s {shape = array<i64: 576, 96, 1, 1>} : (tensor<55296xf32>) -> tensor<576x96x1x1xf32>
  %0 = relay.conv2d %x, %w : (tensor<1x96x14x14xf32>, tensor<576x96x1x1xf32>) -> tensor<1x576x14x14xf32>
  %1 = relay.relu %0 : (tensor<1x576x14x14xf32>) -> tensor<1x576x14x14xf32>
  return %1 : tensor<1x576x14x14xf32>
}

// -----

// Few filters: to read and divide the image takes longer than what is spared.
// CHECK-LABEL: func.func @few_filters
// CHECK-NOT:     by_pairs
// CHECK:         return
// OFF-LABEL: func.func @few_filters
func.func @few_filters(%x: tensor<1x32x112x112xf32>) -> tensor<1x16x112x112xf32> {
  %r = relay.arange {dtype = f32, size = 512 : i64} : () -> tensor<512xf32>
  %s = relay.sin %r : (tensor<512xf32>) -> tensor<512xf32>
  %w = relay.reshape %s {shape = array<i64: 16, 32, 1, 1>} : (tensor<512xf32>) -> tensor<16x32x1x1xf32>
  %0 = relay.conv2d %x, %w : (tensor<1x32x112x112xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x112x112xf32>
  return %0 : tensor<1x16x112x112xf32>
}

// -----

// A stride leaves places out.
// CHECK-LABEL: func.func @strided
// CHECK-NOT:     by_pairs
// CHECK:         return
// OFF-LABEL: func.func @strided
func.func @strided(%x: tensor<1x96x14x14xf32>) -> tensor<1x576x7x7xf32> {
  %r = relay.arange {dtype = f32, size = 55296 : i64} : () -> tensor<55296xf32>
  %s = relay.sin %r : (tensor<55296xf32>) -> tensor<55296xf32>
  %w = relay.reshape %s {shape = array<i64: 576, 96, 1, 1>} : (tensor<55296xf32>) -> tensor<576x96x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 2, 2>} : (tensor<1x96x14x14xf32>, tensor<576x96x1x1xf32>) -> tensor<1x576x7x7xf32>
  return %0 : tensor<1x576x7x7xf32>
}

// -----

// CHECK-LABEL: func.func @f64
// CHECK-NOT:     by_pairs
// CHECK:         return
// OFF-LABEL: func.func @f64
func.func @f64(%x: tensor<512x512xf64>, %y: tensor<512x512xf64>) -> tensor<512x512xf64> {
  %0 = relay.matmul %x, %y : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
  return %0 : tensor<512x512xf64>
}

// -----

// CHECK-LABEL: func.func @small
// CHECK:         call @fused_matmul_0
// OFF-LABEL: func.func @small
func.func @small(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = relay.matmul %x, %y : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
