// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' | FileCheck %s

// Sequences along the second axis, of a batch along the first.
// CHECK-LABEL: te.kernel @sequence_mask
// CHECK:         te.compute "sequence_mask{{.*}}" axes [2, 5, 3]
// CHECK-NEXT:    ^bb0(%[[B:.*]]: index, %[[I:.*]]: index, %{{.*}}: index):
// CHECK:           %[[LENGTH:.*]] = te.load %arg1[%[[B]]]
// CHECK:           %[[AT:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:           arith.cmpi slt, %[[AT]]
// CHECK:           arith.select
func.func @sequence_mask(%x: tensor<2x5x3xf32>, %n: tensor<2xi32>) -> tensor<2x5x3xf32> attributes {relay.primitive} {
  %0 = relay.sequence_mask %x, %n {axis = 1 : i64, mask_value = -1.0 : f64} : (tensor<2x5x3xf32>, tensor<2xi32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}
