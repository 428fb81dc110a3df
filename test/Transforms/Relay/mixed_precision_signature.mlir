// RUN: fusion-opt %s --relay-to-mixed-precision=narrow-signature=true | FileCheck %s

// What narrow operators alone take is narrow outside too, and so is what they give.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xf16>, %arg1: tensor<4x3xf16>, %arg2: tensor<2x4xf32>) -> (tensor<2x4xf16>, tensor<2x4xf32>)
// CHECK-NEXT:    %[[D:.*]] = relay.dense %arg0, %arg1 : {{.*}} -> tensor<2x4xf16>
// CHECK-NEXT:    %[[E:.*]] = relay.exp %arg2 : (tensor<2x4xf32>)
// CHECK-NEXT:    %[[C:.*]] = call @called
// CHECK-NEXT:    return %[[D]], %[[C]]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = relay.exp %y : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = func.call @called(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// A function that is called keeps its type.
// CHECK-LABEL: func.func @called(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @called(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = relay.constant dense<0.25> : tensor<4x4xf32>
  %0 = relay.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
