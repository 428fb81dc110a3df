// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' | FileCheck %s

// Each element makes the whole block that its word is in: ten rounds of two products of 64 bits.
// CHECK-LABEL: te.kernel @philox
// CHECK:         te.compute "philox{{.*}}" axes [8]
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK:           te.load %arg2[%[[I]]]
// CHECK-COUNT-20:  arith.muli %{{.*}} : i64
// CHECK-NOT:       arith.muli
// CHECK-COUNT-3:   arith.select %{{.*}} : i32
func.func @philox(%k: tensor<ui64>, %c: tensor<2xui64>, %p: tensor<8xui64>) -> tensor<8xui32> attributes {relay.primitive} {
  %0 = relay.philox %k, %c, %p : (tensor<ui64>, tensor<2xui64>, tensor<8xui64>) -> tensor<8xui32>
  return %0 : tensor<8xui32>
}
