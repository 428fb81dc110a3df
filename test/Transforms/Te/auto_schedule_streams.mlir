// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te-schedule)' --split-input-file | FileCheck %s

// As much as the last cache holds: what was stored first is in no cache at the end.
// CHECK-LABEL: te.schedule for @k
// CHECK:         %[[S:.*]] = te.stage "add"
// CHECK:         te.stream %[[S]]
func.func @main(%x: tensor<4194304xf32>, %y: tensor<4194304xf32>) -> tensor<4194304xf32> {
  %0 = call @k(%x, %y) : (tensor<4194304xf32>, tensor<4194304xf32>) -> tensor<4194304xf32>
  return %0 : tensor<4194304xf32>
}
func.func @k(%x: tensor<4194304xf32>, %y: tensor<4194304xf32>) -> tensor<4194304xf32> attributes {relay.primitive} {
  %0 = relay.add %x, %y : (tensor<4194304xf32>, tensor<4194304xf32>) -> tensor<4194304xf32>
  return %0 : tensor<4194304xf32>
}

// -----

// Less: the next kernel finds it.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.stream
func.func @main(%x: tensor<1048576xf32>, %y: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %0 = call @k(%x, %y) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  return %0 : tensor<1048576xf32>
}
func.func @k(%x: tensor<1048576xf32>, %y: tensor<1048576xf32>) -> tensor<1048576xf32> attributes {relay.primitive} {
  %0 = relay.add %x, %y : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  return %0 : tensor<1048576xf32>
}

// -----

// A small result of much that is read.
// CHECK-LABEL: te.schedule for @k
// CHECK-NOT:     te.stream
func.func @main(%x: tensor<16777216xf32>) -> tensor<1024xf32> {
  %0 = call @k(%x) : (tensor<16777216xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
func.func @k(%x: tensor<16777216xf32>) -> tensor<1024xf32> attributes {relay.primitive} {
  %0 = relay.slice %x {begin = array<i64: 0>, end = array<i64: 1024>, axes = array<i64: 0>} : (tensor<16777216xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
