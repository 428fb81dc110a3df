// RUN: fusion-opt %s --convert-relay-to-te --split-input-file | FileCheck %s

// The sums of the left side, seven products, and what is made of them: which sums, says the quarter.
// CHECK-LABEL: te.kernel @by_halves
// CHECK:         %[[LEFT:.*]] = te.compute "left" axes [7, 2, 3]
// CHECK-COUNT-4:   te.load %arg0
// CHECK-COUNT-6:   arith.select
// CHECK:         %[[PRODUCTS:.*]] = te.compute "products{{.*}}" axes [7, 2, 4] reduce [3]
// CHECK:           te.load %[[LEFT]][%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK:         te.compute "matmul_strassen{{.*}}" axes [4, 8]
// CHECK:           arith.remui
// CHECK:           arith.remui
// CHECK-COUNT-7:   te.load %[[PRODUCTS]]
// CHECK-COUNT-3:   arith.select
func.func @main(%x: tensor<4x6xf32>, %u: tensor<7x3x4xf32>) -> tensor<4x8xf32> {
  %0 = call @by_halves(%x, %u) : (tensor<4x6xf32>, tensor<7x3x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @by_halves(%x: tensor<4x6xf32>, %u: tensor<7x3x4xf32>) -> tensor<4x8xf32> attributes {relay.primitive} {
  %0 = relay.matmul_strassen %x, %u : (tensor<4x6xf32>, tensor<7x3x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: te.kernel @sums
// CHECK:         te.compute "strassen_sums" axes [7, 3, 4] reduce []
// CHECK-COUNT-4:   te.load %arg0
// CHECK-COUNT-6:   arith.select
func.func @main(%y: tensor<6x8xf32>) -> tensor<7x3x4xf32> {
  %0 = call @sums(%y) : (tensor<6x8xf32>) -> tensor<7x3x4xf32>
  return %0 : tensor<7x3x4xf32>
}
func.func private @sums(%y: tensor<6x8xf32>) -> tensor<7x3x4xf32> attributes {relay.primitive} {
  %0 = relay.strassen_sums %y : (tensor<6x8xf32>) -> tensor<7x3x4xf32>
  return %0 : tensor<7x3x4xf32>
}
