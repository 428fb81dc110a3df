// RUN: fusion-opt %s --split-input-file --pass-pipeline='builtin.module(relay-loop-kernels,relay-optimize)' | FileCheck %s
// RUN: fusion-opt %s --split-input-file --pass-pipeline='builtin.module(relay-loop-kernels,relay-optimize{off=algebra})' | FileCheck %s --check-prefix=OFF

// A loop kernel is in registers, so that operations of its body are what it takes: constants of a product become one, a number goes into a
// sum that takes it in, and a product that two others can be made of is made once. The counter stays as it is.
// CHECK-LABEL: func.func private @loop_0(
// CHECK:       } do {
// CHECK:       ^bb0(%[[I:.*]]: tensor<i64>, %[[X:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<64xf32>):
// CHECK:         %[[NEXT:.*]] = relay.add %[[I]], %{{.*}} : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT:    %[[THREE:.*]] = relay.constant dense<3.000000e+00>
// CHECK-NEXT:    %[[SHARED:.*]] = relay.mul %[[X]], %[[THREE]]
// CHECK-NEXT:    %[[SQUARE:.*]] = relay.mul %[[X]], %[[SHARED]]
// CHECK:         %[[D:.*]] = relay.sub %{{.*}}, %[[SQUARE]]
// CHECK-NEXT:    %[[F:.*]] = relay.mul %[[Y]], %[[SHARED]]
// CHECK-NEXT:    relay.yield %[[NEXT]], %[[D]], %[[F]]

// Without the rules the body stays as it is.
// OFF-LABEL: func.func private @loop_0(
// OFF:       } do {
// OFF-COUNT-5: relay.mul
func.func @main(%x0: tensor<64xf32>, %y0: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = relay.constant dense<0> : tensor<i64>
  %n = relay.constant dense<100> : tensor<i64>
  %r:3 = relay.while(%zero, %x0, %y0) {
  ^bb0(%i: tensor<i64>, %x: tensor<64xf32>, %y: tensor<64xf32>):
    %more = relay.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %x: tensor<64xf32>, %y: tensor<64xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %three = relay.constant dense<3.0> : tensor<f32>
    %six = relay.constant dense<6.0> : tensor<f32>
    %half = relay.constant dense<0.5> : tensor<f32>
    %next = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %a = relay.mul %x, %six : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    %b = relay.mul %a, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %c = relay.sub %six, %b : (tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
    %d = relay.mul %c, %half : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    %e = relay.mul %y, %three : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    %f = relay.mul %e, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    relay.yield %next, %d, %f : tensor<i64>, tensor<64xf32>, tensor<64xf32>
  } : (tensor<i64>, tensor<64xf32>, tensor<64xf32>) -> (tensor<i64>, tensor<64xf32>, tensor<64xf32>)
  return %r#1, %r#2 : tensor<64xf32>, tensor<64xf32>
}
