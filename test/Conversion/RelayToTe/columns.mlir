// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// Where strides divide the result, each element is the sum of those that its phase has, two along each axis here, without asking of any position
// whether it is there.
// CHECK-LABEL: te.kernel @phases(
// CHECK:       te.compute "col2im" axes [1, 2, 8, 8] reduce [] init [] {
// CHECK-COUNT-4: te.load_if
// CHECK-NOT:     te.load
// CHECK:         te.yield
func.func @phases(%x: tensor<1x32x4x4xf32>) -> tensor<1x2x8x8xf32> attributes {relay.primitive} {
  %0 = relay.col2im %x {kernel = array<i64: 4, 4>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}

// A kernel as large as its strides puts every element in a place of its own.
// CHECK-LABEL: te.kernel @apart(
// CHECK:       te.compute "col2im" axes [1, 2, 8, 8] reduce [] init [] {
// CHECK:         te.load %arg0
// CHECK-NEXT:    te.yield
func.func @apart(%x: tensor<1x8x4x4xf32>) -> tensor<1x2x8x8xf32> attributes {relay.primitive} {
  %0 = relay.col2im %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x4x4xf32>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}

// Elsewhere each position of the window is asked.
// CHECK-LABEL: te.kernel @positions(
// CHECK:       te.compute "col2im" axes [1, 2, 9] reduce [3] init [0.000000e+00 : f32] {
// CHECK:         te.load_if
func.func @positions(%x: tensor<1x6x4xf32>) -> tensor<1x2x9xf32> attributes {relay.primitive} {
  %0 = relay.col2im %x {kernel = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x6x4xf32>) -> tensor<1x2x9xf32>
  return %0 : tensor<1x2x9xf32>
}
