// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' --split-input-file --verify-diagnostics | FileCheck %s

// Each element runs all steps; what is taken from outside is loaded before them, and a counter that nobody reads is not carried.
// CHECK-LABEL: te.kernel @plain(
// CHECK:         te.compute "loop{{.*}}" axes [8] reduce [] init []
// CHECK-NEXT:    ^bb0(%[[E:.*]]: index):
// CHECK-DAG:       %[[W:.*]] = te.load %arg1[] : tensor<f32> -> f32
// CHECK-DAG:       %[[X:.*]] = te.load %arg0[%[[E]]]
// CHECK:           %[[R:.*]] = loop.for 10 serial iter(%[[X]] : f32) {
// CHECK-NEXT:      ^bb0(%{{.*}}: index, %[[C:.*]]: f32):
// CHECK-NEXT:        %[[M:.*]] = arith.mulf %[[C]], %[[W]]
// CHECK-NEXT:        loop.yield %[[M]]
// CHECK:           te.yield %[[R]]
func.func private @plain(%x: tensor<8xf32>, %w: tensor<f32>) -> tensor<8xf32> attributes {relay.primitive} {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.mul %a, %w : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %1, %0 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

// Four steps stand behind each other, and two are left over; the counter is read.
// CHECK-LABEL: te.kernel @unrolled(
// CHECK:           %[[L:.*]]:2 = loop.for 2 serial iter(
// CHECK-COUNT-4:     arith.mulf
// CHECK:           loop.for 2 serial iter(%[[L]]#0, %[[L]]#1
// CHECK-COUNT-1:     arith.mulf
// CHECK-NOT:         arith.mulf
// CHECK:           te.yield
func.func private @unrolled(%x: tensor<8xf32>) -> tensor<8xf32> attributes {relay.primitive} {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %f = relay.cast %i {dtype = f32} : (tensor<i64>) -> tensor<f32>
    %0 = relay.mul %a, %f : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %1, %0 : tensor<i64>, tensor<8xf32>
  } {unroll = 4 : i64} : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

func.func private @not_counted(%x: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> attributes {relay.primitive} {
  // expected-error @below {{'relay.while' op cannot stand in a kernel: it does not count to a constant}}
  %r:2 = relay.while(%go, %x) {
  ^bb0(%i: tensor<i1>, %a: tensor<8xf32>):
    relay.yield %i : tensor<i1>
  } do {
  ^bb0(%i: tensor<i1>, %a: tensor<8xf32>):
    %0 = relay.logical_not %i : (tensor<i1>) -> tensor<i1>
    relay.yield %0, %a : tensor<i1>, tensor<8xf32>
  } : (tensor<i1>, tensor<8xf32>) -> (tensor<i1>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

func.func private @not_elementwise(%x: tensor<8xf32>) -> tensor<8xf32> attributes {relay.primitive} {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    // expected-error @below {{'relay.reverse' op cannot stand in the loop of a kernel, which is elementwise}}
    %0 = relay.reverse %a {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %1, %0 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}
