// RUN: fusion-opt %s --relay-optimize --split-input-file | FileCheck %s

// A mask of zeros that is made of pieces is none.
// CHECK-LABEL: func.func @mask_of_zeros
// CHECK-NOT:     relay.add
// CHECK:         relay.tanh
// CHECK-NOT:     relay.add
func.func @mask_of_zeros(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %z = relay.constant dense<0.0> : tensor<1x64xf32>
  %0 = relay.concat %z, %z {axis = 1 : i64} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %1 = relay.broadcast_to %0 {shape = array<i64: 64, 128>} : (tensor<1x128xf32>) -> tensor<64x128xf32>
  %2 = relay.add %x, %1 : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %3 = relay.tanh %2 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  return %3 : tensor<64x128xf32>
}

// -----

// A product with an identity matrix is its operand.
// CHECK-LABEL: func.func @identity
// CHECK-NOT:     relay.matmul
// CHECK:         relay.tanh
// CHECK-NOT:     relay.matmul
func.func @identity(%x: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %i = relay.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>
  %0 = relay.matmul %x, %i : (tensor<64x3xf32>, tensor<3x3xf32>) -> tensor<64x3xf32>
  %1 = relay.tanh %0 : (tensor<64x3xf32>) -> tensor<64x3xf32>
  return %1 : tensor<64x3xf32>
}

// -----

// One with a permutation moves rows.
// CHECK-LABEL: func.func @permutation
// CHECK-NOT:     relay.matmul
// CHECK:         relay.gather
// CHECK-NOT:     relay.matmul
func.func @permutation(%x: tensor<3x4096xf32>) -> tensor<3x4096xf32> {
  %p = relay.constant dense<[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]> : tensor<3x3xf32>
  %0 = relay.matmul %p, %x : (tensor<3x3xf32>, tensor<3x4096xf32>) -> tensor<3x4096xf32>
  return %0 : tensor<3x4096xf32>
}

// -----

// Floats from outside may be NaN or infinite, of which a product with 0 is no 0.
// CHECK-LABEL: func.func @unknown
// CHECK:         relay.mul
func.func @unknown(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %z = relay.constant dense<0.0> : tensor<64x128xf32>
  %0 = relay.mul %x, %z : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

// What is made of a comparison is finite.
// CHECK-LABEL: func.func @finite
// CHECK-NOT:     relay.mul
// CHECK:         relay.constant dense<0.000000e+00> : tensor<64x128xf32>
// CHECK-NOT:     relay.mul
func.func @finite(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %z = relay.constant dense<0.0> : tensor<64x128xf32>
  %0 = relay.less %x, %y : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xi1>
  %1 = relay.cast %0 {dtype = f32} : (tensor<64x128xi1>) -> tensor<64x128xf32>
  %2 = relay.mul %1, %z : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}
