// RUN: fusion-opt %s --convert-relay-to-te --split-input-file | FileCheck %s

// The rows of the left side are divided by powers of two, and filled up to 12 numbers, two of each part; of four products that are added up,
// the loop over which is written out, one is chosen.
// CHECK-LABEL: te.kernel @by_pairs
// CHECK:         %[[POWER:.*]] = te.compute "power" axes [4] reduce [10]
// CHECK:           arith.bitcast
// CHECK:           arith.maxnumf
// CHECK:         %[[LEFT:.*]] = te.compute "left{{.*}}" axes [4, 12]
// CHECK:           te.load_if
// CHECK:           te.load %[[POWER]]
// CHECK:         %[[OWN:.*]] = te.compute "own{{.*}}" axes [4] reduce [2]
// CHECK-COUNT-4:   te.load %[[LEFT]]
// CHECK:         %[[PRODUCTS:.*]] = te.compute "products{{.*}}" axes [4, 8] reduce [2, 4]
// CHECK-COUNT-2:   arith.addf
// CHECK-COUNT-2:   arith.subf
// CHECK-COUNT-3:   arith.select
// CHECK:         te.compute "matmul_inner_product_trick{{.*}}" axes [4, 8]
// CHECK:           te.load %[[PRODUCTS]]
// CHECK:           te.load %[[OWN]]
func.func @main(%x: tensor<4x10xf32>, %u: tensor<14x8xf32>) -> tensor<4x8xf32> {
  %0 = call @by_pairs(%x, %u) : (tensor<4x10xf32>, tensor<14x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @by_pairs(%x: tensor<4x10xf32>, %u: tensor<14x8xf32>) -> tensor<4x8xf32> attributes {relay.primitive} {
  %0 = relay.matmul_inner_product_trick %x, %u : (tensor<4x10xf32>, tensor<14x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Places of an image are one axis, along which they lie.
// CHECK-LABEL: te.kernel @image
// CHECK:         te.compute "power" axes [1, 35] reduce [10]
// CHECK:         te.compute "left{{.*}}" axes [1, 12, 35]
// CHECK:         te.compute "own{{.*}}" axes [1, 35] reduce [2]
// CHECK:         te.compute "products{{.*}}" axes [1, 8, 35] reduce [2, 4]
// CHECK:         te.compute "conv2d_inner_product_trick{{.*}}" axes [1, 8, 5, 7]
func.func @main(%x: tensor<1x10x5x7xf32>, %u: tensor<14x8xf32>) -> tensor<1x8x5x7xf32> {
  %0 = call @image(%x, %u) : (tensor<1x10x5x7xf32>, tensor<14x8xf32>) -> tensor<1x8x5x7xf32>
  return %0 : tensor<1x8x5x7xf32>
}
func.func private @image(%x: tensor<1x10x5x7xf32>, %u: tensor<14x8xf32>) -> tensor<1x8x5x7xf32> attributes {relay.primitive} {
  %0 = relay.conv2d_inner_product_trick %x, %u : (tensor<1x10x5x7xf32>, tensor<14x8xf32>) -> tensor<1x8x5x7xf32>
  return %0 : tensor<1x8x5x7xf32>
}

// -----

// Behind the columns, so divided, are the sums of their pairs and what they were divided by.
// CHECK-LABEL: te.kernel @right
// CHECK:         %[[POWER:.*]] = te.compute "power" axes [8] reduce [10]
// CHECK:         %[[SCALED:.*]] = te.compute "scaled{{.*}}" axes [12, 8]
// CHECK:         %[[OWN:.*]] = te.compute "own{{.*}}" axes [8] reduce [2]
// CHECK:         te.compute "inner_product_trick_right{{.*}}" axes [14, 8]
// CHECK:           te.load %[[OWN]]
// CHECK:           te.load %[[POWER]]
// CHECK:           te.load_if %{{[0-9]+}}, %[[SCALED]]
func.func @main(%y: tensor<10x8xf32>) -> tensor<14x8xf32> {
  %0 = call @right(%y) : (tensor<10x8xf32>) -> tensor<14x8xf32>
  return %0 : tensor<14x8xf32>
}
func.func private @right(%y: tensor<10x8xf32>) -> tensor<14x8xf32> attributes {relay.primitive} {
  %0 = relay.inner_product_trick_right %y : (tensor<10x8xf32>) -> tensor<14x8xf32>
  return %0 : tensor<14x8xf32>
}
