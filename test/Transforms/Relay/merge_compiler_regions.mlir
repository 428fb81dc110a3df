// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-annotate-target{target=npu ops=add,relu},relay-merge-compiler-regions))' | FileCheck %s

// What is between stays outside, and moves behind the region.
// CHECK-LABEL: func.func @neighbours
// CHECK-NEXT:    %[[A:.*]] = relay.add %arg0, %arg0 {relay.compiler = "npu", relay.region = 0 : i64}
// CHECK-NEXT:    relay.relu %[[A]] {relay.compiler = "npu", relay.region = 0 : i64}
// CHECK-NEXT:    relay.exp %[[A]]
func.func @neighbours(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// One region would need what needs it.
// CHECK-LABEL: func.func @cycle
// CHECK-NEXT:    %[[A:.*]] = relay.add %arg0, %arg0 {relay.compiler = "npu", relay.region = 0 : i64}
// CHECK-NEXT:    %[[E:.*]] = relay.exp %[[A]]
// CHECK-NEXT:    relay.add %[[A]], %[[E]] {relay.compiler = "npu", relay.region = 1 : i64}
func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A branch that the generator cannot compile, and a user that it cannot, keep neither out of the region.
// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %[[E:.*]] = relay.exp %arg0
// CHECK-NEXT:    %[[A:.*]] = relay.add %arg0, %arg0 {relay.compiler = "npu", relay.region = 0 : i64}
// CHECK-NEXT:    relay.add %[[A]], %[[E]] {relay.compiler = "npu", relay.region = 0 : i64}
// CHECK-NEXT:    relay.tanh %[[A]]
func.func @branches(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.add %0, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// What writes memory stays before what reads it. Blocks have regions of their own.
// CHECK-LABEL: func.func @memory
// CHECK:         %[[R:.*]] = relay.ref.new
// CHECK:         %[[A:.*]] = relay.add %arg0, %arg0 {relay.compiler = "npu", relay.region = 0 : i64}
// CHECK:         relay.ref.write %[[R]], %[[A]]
// CHECK-NEXT:    relay.ref.read %[[R]]
// CHECK:         relay.if
// CHECK:         relay.relu {{.*}} relay.region = 1 : i64
func.func @memory(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %r = relay.ref.new %x : tensor<4xf32> -> !relay.ref<tensor<4xf32>>
  %0 = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.ref.write %r, %0 : !relay.ref<tensor<4xf32>>, tensor<4xf32>
  %1 = relay.ref.read %r : !relay.ref<tensor<4xf32>> -> tensor<4xf32>
  %2 = relay.if %c {
    %3 = relay.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %3 : tensor<4xf32>
  } else {
    relay.yield %0 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
