// RUN: fusion-opt %s --convert-relay-to-te --split-input-file | FileCheck %s

// Of few rows: sums of blocks, of data that is divided by the power of two that a number is a multiple of at its place. Scales and zero points
// stand outside.
// CHECK-LABEL: te.kernel @few_rows
// CHECK:         %[[SCALED:.*]] = te.compute "scaled{{.*}}" axes [2, 64] reduce []
// CHECK:         %[[SUMS:.*]] = te.compute "sums{{.*}}" axes [2, 2] reduce [32]
// CHECK:         %[[BLOCKS:.*]] = te.compute "blocks{{.*}}" axes [2, 16, 2] reduce [4, 2, 4]
// CHECK:           te.load %[[SCALED]]
// CHECK:           te.load %arg1{{.*}} : tensor<16x8xui32> -> i32
// CHECK:           arith.andi
// CHECK:           arith.sitofp
// CHECK:         te.compute "dense_few_bits{{.*}}" axes [2, 16] reduce [2]
// CHECK-DAG:       te.load %[[BLOCKS]]
// CHECK-DAG:       te.load %[[SUMS]]
// CHECK-DAG:       te.load %arg3
// CHECK-DAG:       te.load %arg2
func.func @main(%x: tensor<2x64xf32>, %w: tensor<16x8xui32>, %s: tensor<16x2xf32>, %z: tensor<1x1xf32>) -> tensor<2x16xf32> {
  %0 = call @few_rows(%x, %w, %s, %z) : (tensor<2x64xf32>, tensor<16x8xui32>, tensor<16x2xf32>, tensor<1x1xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}
func.func private @few_rows(%x: tensor<2x64xf32>, %w: tensor<16x8xui32>, %s: tensor<16x2xf32>, %z: tensor<1x1xf32>) -> tensor<2x16xf32> attributes {relay.primitive} {
  %0 = relay.dense_few_bits %x, %w, %s, %z {bits = 4} : (tensor<2x64xf32>, tensor<16x8xui32>, tensor<16x2xf32>, tensor<1x1xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

// Of many rows: the weights, and the product with them.
// CHECK-LABEL: te.kernel @many_rows
// CHECK:         %[[WEIGHTS:.*]] = te.compute "weights{{.*}}" axes [16, 64] reduce []
// CHECK:         te.compute "dense_few_bits{{.*}}" axes [32, 16] reduce [64]
// CHECK:           te.load %arg0
// CHECK:           te.load %[[WEIGHTS]]
func.func @main(%x: tensor<32x64xf32>, %w: tensor<16x4xui32>, %s: tensor<16x2xf32>, %z: tensor<16x2xf32>) -> tensor<32x16xf32> {
  %0 = call @many_rows(%x, %w, %s, %z) : (tensor<32x64xf32>, tensor<16x4xui32>, tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
func.func private @many_rows(%x: tensor<32x64xf32>, %w: tensor<16x4xui32>, %s: tensor<16x2xf32>, %z: tensor<16x2xf32>) -> tensor<32x16xf32> attributes {relay.primitive} {
  %0 = relay.dense_few_bits %x, %w, %s, %z {bits = 2} : (tensor<32x64xf32>, tensor<16x4xui32>, tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// -----

// CHECK-LABEL: te.kernel @packed
// CHECK:         te.compute "pack_bits{{.*}}" axes [3, 2] reduce [8]
// CHECK:           te.load %arg0
// CHECK:           arith.shli
func.func @main(%q: tensor<3x16xi8>) -> tensor<3x2xui32> {
  %0 = call @packed(%q) : (tensor<3x16xi8>) -> tensor<3x2xui32>
  return %0 : tensor<3x2xui32>
}
func.func private @packed(%q: tensor<3x16xi8>) -> tensor<3x2xui32> attributes {relay.primitive} {
  %0 = relay.pack_bits %q {bits = 4} : (tensor<3x16xi8>) -> tensor<3x2xui32>
  return %0 : tensor<3x2xui32>
}
