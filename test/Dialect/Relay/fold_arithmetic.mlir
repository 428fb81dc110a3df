// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @neutral_elements
// CHECK-NEXT:    return %arg0, %arg0, %arg0, %arg0, %arg1, %arg1
func.func @neutral_elements(%x: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %minus_zero = relay.constant dense<-0.0> : tensor<4xf32>
  %one = relay.constant dense<1.0> : tensor<4xf32>
  %no = relay.constant dense<0> : tensor<i32>
  %0 = relay.add %minus_zero, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.sub %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.mul %one, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.div %x, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relay.add %i, %no : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %5 = relay.sub %i, %no : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// -0.0 + 0.0 is 0.0, and so is -0.0 - -0.0; 0 - x and 1 / x are not x.
// CHECK-LABEL: func.func @not_neutral
// CHECK:         relay.add
// CHECK:         relay.sub
// CHECK:         relay.sub
// CHECK:         relay.div
func.func @not_neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %minus_zero = relay.constant dense<-0.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.sub %x, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.sub %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.div %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A product that repeats its operand is not its operand.
// CHECK-LABEL: func.func @neutral_but_larger
// CHECK:         relay.mul
func.func @neutral_but_larger(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %one = relay.constant dense<1.0> : tensor<2x4xf32>
  %0 = relay.mul %x, %one : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @involutions
// CHECK-NEXT:    return %arg0, %arg1, %arg2
func.func @involutions(%x: tensor<4xf32>, %b: tensor<4xi1>, %i: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xui8>) {
  %0 = relay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.logical_not %b : (tensor<4xi1>) -> tensor<4xi1>
  %3 = relay.logical_not %2 : (tensor<4xi1>) -> tensor<4xi1>
  %4 = relay.bitwise_not %i : (tensor<4xui8>) -> tensor<4xui8>
  %5 = relay.bitwise_not %4 : (tensor<4xui8>) -> tensor<4xui8>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xi1>, tensor<4xui8>
}

// -----

// CHECK-LABEL: func.func @other_chains
// CHECK-NEXT:    relay.abs
// CHECK-NEXT:    relay.neg
func.func @other_chains(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @clip
// CHECK-NEXT:    %[[C:.*]] = relay.clip %arg0 {max = 6.000000e+00 : f64}
// CHECK-NEXT:    return %arg0, %[[C]]
func.func @clip(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.clip %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.clip %x {max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @where
// CHECK-NEXT:    %[[W:.*]] = relay.where %arg0, %arg1, %arg2
// CHECK-NEXT:    return %arg1, %arg2, %[[W]]
func.func @where(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %no = relay.constant dense<false> : tensor<i1>
  %0 = relay.where %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.where %no, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
