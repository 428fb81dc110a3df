// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @to_the_same_type
// CHECK-NEXT:    return %arg0
func.func @to_the_same_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.cast %x {dtype = f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT:    return %arg0
func.func @there_and_back(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = relay.cast %x {dtype = f16} : (tensor<4xi8>) -> tensor<4xf16>
  %1 = relay.cast %0 {dtype = i8} : (tensor<4xf16>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @past_a_wider_type
// CHECK-NEXT:    relay.cast %arg0 {dtype = i32} : (tensor<4xf16>) -> tensor<4xi32>
func.func @past_a_wider_type(%x: tensor<4xf16>) -> tensor<4xi32> {
  %0 = relay.cast %x {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  %1 = relay.cast %0 {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// Digits are lost on the way.
// CHECK-LABEL: func.func @lossy
// CHECK-NEXT:    relay.cast
// CHECK-NEXT:    relay.cast
func.func @lossy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.cast %x {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  %1 = relay.cast %0 {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// 300 is 255 by way of floats, which saturate, and 44 directly.
// CHECK-LABEL: func.func @saturating
// CHECK-NEXT:    relay.cast
// CHECK-NEXT:    relay.cast
func.func @saturating(%x: tensor<4xi32>) -> tensor<4xui8> {
  %0 = relay.cast %x {dtype = f64} : (tensor<4xi32>) -> tensor<4xf64>
  %1 = relay.cast %0 {dtype = ui8} : (tensor<4xf64>) -> tensor<4xui8>
  return %1 : tensor<4xui8>
}

// -----

// CHECK-LABEL: func @bits
// CHECK: relay.constant dense<[1065353216, -2147483648]> : tensor<2xi32>
func.func @bits() -> tensor<2xi32> {
  %0 = relay.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %1 = relay.bitcast %0 {dtype = i32} : (tensor<2xf32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}
