// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --relay-optimize | FileCheck %s
// RUN: fusion-opt %s --relay-optimize | FileCheck %s --check-prefix=NONE

// A target without dot products of 8 bits multiplies floats.
// NONE-NOT: out_dtype

// CHECK:     func.func private @fused_matmul_sub_cast_mul_0(
// CHECK:     relay.matmul {{.*}} {out_dtype = i32} : (tensor<64x128xui8>, tensor<128x64xi8>) -> tensor<64x64xi32>
// CHECK:     func.func private @fused_matmul_mul_0(
// CHECK:     relay.matmul {{.*}} : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
// CHECK:     relay.sub {{.*}} : (tensor<64x128xi8>, tensor<i8>) -> tensor<64x128xi8>
// CHECK:     relay.matmul {{.*}} {out_dtype = i32} : (tensor<64x128xi8>, tensor<128x64xi8>) -> tensor<64x64xi32>

// Scales and the zero point are taken out of the sum, which is of integers.
func.func @quantized(%x: tensor<64x128xui8>, %w: tensor<128x64xi8>) -> tensor<64x64xf32> {
  %s = relay.constant dense<0.02> : tensor<f32>
  %z = relay.constant dense<128> : tensor<i32>
  %xi = relay.cast %x {dtype = i32} : (tensor<64x128xui8>) -> tensor<64x128xi32>
  %xc = relay.sub %xi, %z : (tensor<64x128xi32>, tensor<i32>) -> tensor<64x128xi32>
  %xf = relay.cast %xc {dtype = f32} : (tensor<64x128xi32>) -> tensor<64x128xf32>
  %xs = relay.mul %xf, %s : (tensor<64x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %wf = relay.cast %w {dtype = f32} : (tensor<128x64xi8>) -> tensor<128x64xf32>
  %ws = relay.mul %wf, %s : (tensor<128x64xf32>, tensor<f32>) -> tensor<128x64xf32>
  %y = relay.matmul %xs, %ws : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// What is no number of 8 bits is no zero point: its sums need not fit 32 bits.
func.func @far_zero_point(%x: tensor<64x128xui8>, %w: tensor<128x64xi8>) -> tensor<64x64xf32> {
  %s = relay.constant dense<0.02> : tensor<f32>
  %z = relay.constant dense<100000> : tensor<i32>
  %xi = relay.cast %x {dtype = i32} : (tensor<64x128xui8>) -> tensor<64x128xi32>
  %xc = relay.sub %xi, %z : (tensor<64x128xi32>, tensor<i32>) -> tensor<64x128xi32>
  %xf = relay.cast %xc {dtype = f32} : (tensor<64x128xi32>) -> tensor<64x128xf32>
  %xs = relay.mul %xf, %s : (tensor<64x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %wf = relay.cast %w {dtype = f32} : (tensor<128x64xi8>) -> tensor<128x64xf32>
  %ws = relay.mul %wf, %s : (tensor<128x64xf32>, tensor<f32>) -> tensor<128x64xf32>
  %y = relay.matmul %xs, %ws : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// A difference of 8 bits wraps around: it is what is multiplied, not the numbers that it is made of.
func.func @wrapped(%x: tensor<64x128xui8>, %w: tensor<128x64xi8>) -> tensor<64x64xf32> {
  %s = relay.constant dense<0.02> : tensor<f32>
  %z = relay.constant dense<100> : tensor<i8>
  %xi = relay.cast %x {dtype = i8} : (tensor<64x128xui8>) -> tensor<64x128xi8>
  %xc = relay.sub %xi, %z : (tensor<64x128xi8>, tensor<i8>) -> tensor<64x128xi8>
  %xf = relay.cast %xc {dtype = f32} : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %xs = relay.mul %xf, %s : (tensor<64x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %wf = relay.cast %w {dtype = f32} : (tensor<128x64xi8>) -> tensor<128x64xf32>
  %ws = relay.mul %wf, %s : (tensor<128x64xf32>, tensor<f32>) -> tensor<128x64xf32>
  %y = relay.matmul %xs, %ws : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
