// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=znver4},convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// Which of seven sums an element is: the loop over them is written out inside.
// CHECK-LABEL: te.schedule for @sums
// CHECK:         %[[AXES:.*]]:3 = te.axes
// CHECK:         te.unroll %[[AXES]]#0
// CHECK:         te.reorder %[[AXES]]#1, %{{[a-z_0-9]+}}, %[[AXES]]#0, %
// CHECK-NEXT:    te.parallel %[[AXES]]#1
func.func @main(%x: tensor<512x512xf32>) -> tensor<7x256x256xf32> {
  %0 = call @sums(%x) : (tensor<512x512xf32>) -> tensor<7x256x256xf32>
  return %0 : tensor<7x256x256xf32>
}
func.func private @sums(%x: tensor<512x512xf32>) -> tensor<7x256x256xf32> attributes {relay.primitive} {
  %0 = relay.strassen_sums %x : (tensor<512x512xf32>) -> tensor<7x256x256xf32>
  return %0 : tensor<7x256x256xf32>
}

// -----

// An axis that operands are read along stays where it is, though it tells which one.
// CHECK-LABEL: te.schedule for @joined
// CHECK-NOT:     te.unroll
func.func @main(%x: tensor<2x64x64xf32>, %y: tensor<3x64x64xf32>) -> tensor<5x64x64xf32> {
  %0 = call @joined(%x, %y) : (tensor<2x64x64xf32>, tensor<3x64x64xf32>) -> tensor<5x64x64xf32>
  return %0 : tensor<5x64x64xf32>
}
func.func private @joined(%x: tensor<2x64x64xf32>, %y: tensor<3x64x64xf32>) -> tensor<5x64x64xf32> attributes {relay.primitive} {
  %0 = relay.concat %x, %y {axis = 0 : i64} : (tensor<2x64x64xf32>, tensor<3x64x64xf32>) -> tensor<5x64x64xf32>
  return %0 : tensor<5x64x64xf32>
}
