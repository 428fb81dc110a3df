// RUN: fusion-opt %s --pass-pipeline='builtin.module(relay-loop-kernels,canonicalize)' --split-input-file | FileCheck %s

// A body that has a step twice is half of it, run twice as often.
// CHECK-LABEL: func.func private @loop_0
// CHECK:         %[[END:[a-z0-9]+]] = relay.constant dense<20> : tensor<i64>
// CHECK:         relay.while
// CHECK:           relay.less %{{.*}}, %[[END]]
// CHECK:         } do {
// CHECK-NEXT:    ^bb0(%[[I:[a-z0-9]+]]: tensor<i64>, %[[A:[a-z0-9]+]]: tensor<8xf32>):
// CHECK-NEXT:      %[[S:[0-9]+]] = relay.sin %[[A]]
// CHECK-NEXT:      %[[M:[0-9]+]] = relay.mul %[[S]], %arg1
// CHECK-NEXT:      %[[J:[0-9]+]] = relay.add %[[I]]
// CHECK-NEXT:      relay.yield %[[J]], %[[M]]
func.func @twice(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %0 = relay.sin %a : (tensor<8xf32>) -> tensor<8xf32>
    %1 = relay.mul %0, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = relay.sin %1 : (tensor<8xf32>) -> tensor<8xf32>
    %3 = relay.mul %2, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %4 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %4, %3 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

// A value may take the place of another in each step: a, b = b, a + b.
// CHECK-LABEL: func.func private @loop_0
// CHECK:         relay.constant dense<30> : tensor<i64>
// CHECK:         } do {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<i64>, %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>):
// CHECK-NEXT:      %[[C:[0-9]+]] = relay.add %[[A]], %[[B]]
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield %{{[0-9]+}}, %[[B]], %[[C]]
func.func @moved(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:3 = relay.while(%start, %x, %y) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %c = relay.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %d = relay.add %b, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %e = relay.add %c, %d : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %j, %d, %e : tensor<i64>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>, tensor<8xf32>)
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// The second half multiplies by another number: it is no copy.
// CHECK-LABEL: func.func private @loop_0
// CHECK:         relay.constant dense<10> : tensor<i64>
// CHECK:         } do {
// CHECK-COUNT-2:   relay.mul
// CHECK:           relay.yield
func.func @other_numbers(%x: tensor<8xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %half = relay.constant dense<0.5> : tensor<f32>
    %third = relay.constant dense<0.3> : tensor<f32>
    %0 = relay.mul %a, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = relay.mul %0, %third : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %2, %1 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

// Two values of the state that are doubled side by side do not take turns: (a, b) = (b, a + a), twice, would be the same.
// CHECK-LABEL: func.func private @loop_0
// CHECK:         relay.constant dense<10> : tensor<i64>
// CHECK:         } do {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<i64>, %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>):
// CHECK-NEXT:      relay.add %[[A]], %[[A]]
// CHECK-NEXT:      relay.add %[[B]], %[[B]]
func.func @side_by_side(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:3 = relay.while(%start, %x, %y) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %c = relay.add %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %d = relay.add %b, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %j, %c, %d : tensor<i64>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>, tensor<8xf32>)
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Both halves use the counter, which has one number in both.
// CHECK-LABEL: func.func private @loop_0
// CHECK:         relay.constant dense<10> : tensor<i64>
// CHECK:         } do {
// CHECK-COUNT-2:   relay.mul
func.func @counter(%x: tensor<8xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %f = relay.cast %i {dtype = f32} : (tensor<i64>) -> tensor<f32>
    %0 = relay.mul %a, %f : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %g = relay.cast %i {dtype = f32} : (tensor<i64>) -> tensor<f32>
    %1 = relay.mul %0, %g : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %2, %1 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// -----

// What does not depend on the state is of no step.
// CHECK-LABEL: func.func private @loop_0
// CHECK:         relay.constant dense<20> : tensor<i64>
// CHECK:         } do {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<i64>, %[[A:[a-z0-9]+]]: tensor<8xf32>):
// CHECK-NEXT:      %[[S:[0-9]+]] = relay.sin %arg1
// CHECK-NEXT:      relay.mul %[[A]], %[[S]]
// CHECK-NEXT:      relay.add
// CHECK-NEXT:      relay.yield
func.func @shared(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %end = relay.constant dense<10> : tensor<i64>
  %start = relay.constant dense<0> : tensor<i64>
  %r:2 = relay.while(%start, %x) {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %0 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %0 = relay.sin %w : (tensor<8xf32>) -> tensor<8xf32>
    %1 = relay.mul %a, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = relay.mul %1, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %3, %2 : tensor<i64>, tensor<8xf32>
  } : (tensor<i64>, tensor<8xf32>) -> (tensor<i64>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}
