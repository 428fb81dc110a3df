// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-loop-kernels,relay-optimize)' | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-attach-target{name=nvidia:sm_90a},relay-loop-kernels,relay-optimize{remarks=%t.json})' | FileCheck %s --check-prefix=GPU
// RUN: FileCheck %s --check-prefix=REMARKS < %t.json
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-loop-kernels{unroll=3},relay-optimize)' | FileCheck %s --check-prefix=ASKED

// A processor counts beside its arithmetic: one step at a time. A thread of a GPU has no other units, so that steps stand behind
// each other while that gains; a loop of few steps becomes none. Where somebody asked for a number, that is it.
// CHECK-NOT:   unroll =
// GPU-LABEL: func.func private @loop_0
// GPU:         unroll = 16
// GPU-LABEL: func.func private @loop_1
// GPU:         unroll = 4
// ASKED-COUNT-2: unroll = 3
// REMARKS:      "rule": "one step at a time",
// REMARKS:      "accepted": true,
// REMARKS:      "reason": "the loop counts less often"
// REMARKS:      "rule": "4 of 4 steps behind each other",
func.func @busy(%x0: tensor<4096xf32>, %x1: tensor<4096xf32>, %x2: tensor<4096xf32>, %x3: tensor<4096xf32>, %x4: tensor<4096xf32>, %x5: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %end = relay.constant dense<96> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:7 = relay.while(%start, %x0, %x1, %x2, %x3, %x4, %x5) {
  ^bb0(%i: tensor<i64>, %a0: tensor<4096xf32>, %a1: tensor<4096xf32>, %a2: tensor<4096xf32>, %a3: tensor<4096xf32>, %a4: tensor<4096xf32>, %a5: tensor<4096xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a0: tensor<4096xf32>, %a1: tensor<4096xf32>, %a2: tensor<4096xf32>, %a3: tensor<4096xf32>, %a4: tensor<4096xf32>, %a5: tensor<4096xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %b0 = relay.add %a0, %a1 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b1 = relay.add %a1, %a2 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b2 = relay.add %a2, %a3 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b3 = relay.add %a3, %a4 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b4 = relay.add %a4, %a5 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b5 = relay.add %a5, %a0 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %j, %b0, %b1, %b2, %b3, %b4, %b5 : tensor<i64>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
  } : (tensor<i64>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> (tensor<i64>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
  return %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}
func.func @short(%x0: tensor<4096xf32>, %x1: tensor<4096xf32>, %x2: tensor<4096xf32>, %x3: tensor<4096xf32>, %x4: tensor<4096xf32>, %x5: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %end = relay.constant dense<4> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:7 = relay.while(%start, %x0, %x1, %x2, %x3, %x4, %x5) {
  ^bb0(%i: tensor<i64>, %a0: tensor<4096xf32>, %a1: tensor<4096xf32>, %a2: tensor<4096xf32>, %a3: tensor<4096xf32>, %a4: tensor<4096xf32>, %a5: tensor<4096xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a0: tensor<4096xf32>, %a1: tensor<4096xf32>, %a2: tensor<4096xf32>, %a3: tensor<4096xf32>, %a4: tensor<4096xf32>, %a5: tensor<4096xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %b0 = relay.add %a0, %a1 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b1 = relay.add %a1, %a2 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b2 = relay.add %a2, %a3 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b3 = relay.add %a3, %a4 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b4 = relay.add %a4, %a5 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %b5 = relay.add %a5, %a0 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %j, %b0, %b1, %b2, %b3, %b4, %b5 : tensor<i64>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
  } : (tensor<i64>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> (tensor<i64>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
  return %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}
// A loop that stays one is known to be of that length.
// CHECK-LABEL: func.func @reduces
// CHECK:         trips = 20
func.func @reduces(%x: tensor<8xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<20> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %0 = relay.reduce_sum %a {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    %1 = relay.add %a, %0 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %2, %1 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}
