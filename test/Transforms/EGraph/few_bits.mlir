// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --relay-optimize | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-target=name=sm_80 --relay-optimize | FileCheck %s --check-prefix=GPU
// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --relay-optimize=rules-off=quantization | FileCheck %s --check-prefix=GPU

// GPUs multiply dequantized floats.
// GPU-NOT: dense_few_bits

// Blocks of 32 numbers of 4 bits, which have a byte each in the source, are packed eight in a word.
// CHECK-LABEL: func.func @blocks
// CHECK-DAG:     relay.constant {{.*}} : tensor<512x128xui32>
// CHECK-DAG:     relay.constant {{.*}} : tensor<512x32xf32>
// CHECK-DAG:     relay.constant dense<8.000000e+00> : tensor<1x1xf32>
// CHECK:       relay.dense_few_bits {{.*}} {bits = 4} : (tensor<1x1024xf32>, tensor<512x128xui32>, tensor<512x32xf32>, tensor<1x1xf32>) -> tensor<1x512xf32>
func.func @blocks(%x: tensor<1x1024xf32>) -> tensor<1x512xf32> {
  %q = relay.constant dense<13> : tensor<512x32x32xui8>
  %s = relay.constant dense<0.25> : tensor<512x32x1xf32>
  %z = relay.constant dense<8.0> : tensor<f32>
  %f = relay.cast %q {dtype = f32} : (tensor<512x32x32xui8>) -> tensor<512x32x32xf32>
  %c = relay.sub %f, %z : (tensor<512x32x32xf32>, tensor<f32>) -> tensor<512x32x32xf32>
  %b = relay.mul %c, %s : (tensor<512x32x32xf32>, tensor<512x32x1xf32>) -> tensor<512x32x32xf32>
  %w = relay.reshape %b {shape = array<i64: 512, 1024>} : (tensor<512x32x32xf32>) -> tensor<512x1024xf32>
  %y = relay.dense %x, %w : (tensor<1x1024xf32>, tensor<512x1024xf32>) -> tensor<1x512xf32>
  return %y : tensor<1x512xf32>
}
