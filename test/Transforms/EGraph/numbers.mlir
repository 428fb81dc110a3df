// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s

// Constants that repeat: each is multiplied as often as the program does, and the product is rounded once.
// CHECK-LABEL: func.func @repeated
// CHECK:       func.func private @fused_div_mul_0
// CHECK-DAG:     relay.constant dense<1.000000e-01> : tensor<f32>
// CHECK-DAG:     relay.constant dense<0.0100000007> : tensor<f32>
// CHECK:         relay.div
// CHECK-NEXT:    relay.mul
// CHECK-NEXT:    return
func.func @repeated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<0.1> : tensor<f32>
  %0 = relay.div %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.mul %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.mul %1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A product of constants that its type does not hold is not made.
// CHECK-LABEL: func.func @too_small
// CHECK:         relay.mul
// CHECK:         relay.mul
// CHECK:         return
func.func @too_small(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.0e-30> : tensor<f32>
  %0 = relay.mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.mul %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What is rounded to an integer keeps its roundings: elsewhere both factors would be one.
// CHECK-LABEL: func.func @quantized
// CHECK:         relay.mul
// CHECK-NEXT:    relay.mul
// CHECK-NEXT:    relay.round
func.func @quantized(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<0.1> : tensor<f32>
  %d = relay.constant dense<0.7> : tensor<f32>
  %0 = relay.mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.mul %0, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.round %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// The scale of a column that is as large as its weights are small does not go into the weight, which would not be a number of f32.
// CHECK-LABEL: func.func @scale_out_of_range
// CHECK:         relay.{{matmul|dense}}
// CHECK:         relay.mul
func.func @scale_out_of_range(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = relay.constant dense<[[1.0e+20, 1.0], [2.0e+20, 3.0]]> : tensor<2x2xf32>
  %s = relay.constant dense<[3.0e+20, 2.0]> : tensor<2xf32>
  %0 = relay.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relay.mul %0, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// The same in f16, where sums are of f32: each weight would be rounded again.
// CHECK-LABEL: func.func @scale_of_f16
// CHECK:         relay.{{matmul|dense}}
// CHECK:         relay.mul
func.func @scale_of_f16(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %w = relay.constant dense<[[1.0, 4.0], [2.0, 3.0]]> : tensor<2x2xf16>
  %s = relay.constant dense<[3.0, 5.0]> : tensor<2xf16>
  %0 = relay.matmul %x, %w : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %1 = relay.mul %0, %s : (tensor<2x2xf16>, tensor<2xf16>) -> tensor<2x2xf16>
  return %1 : tensor<2x2xf16>
}
