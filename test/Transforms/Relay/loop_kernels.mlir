// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-loop-kernels,canonicalize)' --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-loop-kernels{unroll=4},canonicalize)' --split-input-file | FileCheck %s --check-prefix=UNROLL
// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-loop-kernels{max-operators=2},canonicalize)' --split-input-file | FileCheck %s --check-prefix=FEW

// A loop that counts and is elementwise is one kernel. What goes on being true and what nobody wants are not carried.
// CHECK-LABEL: func.func @counted(
// CHECK-NEXT:    %[[R:.*]] = call @loop_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    return %[[R]]
// CHECK:       func.func private @loop_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {relay.primitive}
// CHECK:         relay.while(%{{.*}}, %arg0) {
// CHECK:         relay.mul
// CHECK:         (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
// UNROLL:        relay.while
// UNROLL:        {unroll = 4 : i64}
// FEW-NOT:     relay.primitive
func.func @counted(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %true = relay.constant dense<true> : tensor<i1>
  %r:4 = relay.while(%start, %true, %x, %y) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<8xf32>, %b: tensor<3xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %1 = relay.logical_and %0, %go : (tensor<i1>, tensor<i1>) -> tensor<i1>
    relay.yield %1 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<8xf32>, %b: tensor<3xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %0 = relay.mul %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = relay.neg %b : (tensor<3xf32>) -> tensor<3xf32>
    %2 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %2, %go, %0, %1 : tensor<i64>, tensor<i1>, tensor<8xf32>, tensor<3xf32>
  } : (tensor<i64>, tensor<i1>, tensor<8xf32>, tensor<3xf32>) -> (tensor<i64>, tensor<i1>, tensor<8xf32>, tensor<3xf32>)
  return %r#2 : tensor<8xf32>
}

// -----

// State that is stacked is carried in pieces: nothing is moved in the loop.
// CHECK-LABEL: func.func @stacked(
// CHECK:       func.func private @loop_0(%arg0: tensor<2x8xf32>)
// CHECK:         %[[A:[a-z0-9]+]] = relay.reshape %{{.*}} -> tensor<8xf32>
// CHECK:         %[[B:[a-z0-9]+]] = relay.reshape %{{.*}} -> tensor<8xf32>
// CHECK:         relay.while(%{{[0-9]+}}, %[[A]], %[[B]]) {
// CHECK:         } do {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<i64>, %[[P:[a-z0-9]+]]: tensor<8xf32>, %[[Q:[a-z0-9]+]]: tensor<8xf32>):
// CHECK-NEXT:      %[[N:[a-z0-9]+]] = relay.add %[[P]], %[[Q]]
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield %{{[0-9]+}}, %[[Q]], %[[N]]
// CHECK:         relay.concat
func.func @stacked(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<2x8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<2x8xf32>):
    %zero = relay.constant dense<0> : tensor<i64>
    %one = relay.constant dense<1> : tensor<i64>
    %p = relay.gather %a, %zero {axis = 0 : i64} : (tensor<2x8xf32>, tensor<i64>) -> tensor<8xf32>
    %s = relay.slice %a {begin = array<i64: 1>, end = array<i64: 2>} : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %q = relay.squeeze %s {axes = array<i64: 0>} : (tensor<1x8xf32>) -> tensor<8xf32>
    %n = relay.add %p, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %e = relay.expand_dims %n {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<1x8xf32>
    %c = relay.concat %s, %e {axis = 0 : i64} : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
    %2 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %2, %c : tensor<i64>, tensor<2x8xf32>
  } : (tensor<i64>, tensor<2x8xf32>) -> (tensor<i64>, tensor<2x8xf32>)
  return %r#1 : tensor<2x8xf32>
}

// -----

// Whether to go on depends on the data.
// CHECK-LABEL: func.func @asks_the_data(
// CHECK:         relay.while
// CHECK-NOT:   relay.primitive
func.func @asks_the_data(%x: tensor<f32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<10.0> : tensor<f32>
  %r:2 = relay.while(%x, %y) {
  ^bb0(%i: tensor<f32>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<f32>, tensor<f32>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<f32>, %a: tensor<8xf32>):
    %0 = relay.add %i, %i : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = relay.add %a, %i : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    relay.yield %0, %1 : tensor<f32>, tensor<8xf32>
  } : (tensor<f32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

// Elements of the state need others: by a reduction, and by a slice of what the loops go over.
// CHECK-LABEL: func.func @not_elementwise(
// CHECK:         relay.while
// CHECK:         relay.while
// CHECK-NOT:   relay.primitive
func.func @not_elementwise(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %end = relay.constant dense<10> : tensor<i64>
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
  %q:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %0 = relay.slice %a {begin = array<i64: 0>, end = array<i64: 4>} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = relay.concat %0, %0 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %2 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %2, %1 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1, %q#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// The counter at the end is known, and what does not change was known before.
// CHECK-LABEL: func.func @known_at_the_end(
// CHECK:         %[[C:.*]] = relay.constant dense<11> : tensor<i64>
// CHECK:         %[[R:.*]] = call @loop_0(%arg0, %arg1)
// CHECK-NEXT:    return %[[C]], %arg1, %[[R]]
func.func @known_at_the_end(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>, tensor<8xf32>) {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<2> : tensor<i64>
  %r:3 = relay.while(%start, %w, %x) {
  ^bb0(%i: tensor<i64>, %b: tensor<8xf32>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %b: tensor<8xf32>, %a: tensor<8xf32>):
    %three = relay.constant dense<3> : tensor<i64>
    %0 = relay.mul %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = relay.add %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %1, %b, %0 : tensor<i64>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1, %r#2 : tensor<i64>, tensor<8xf32>, tensor<8xf32>
}
