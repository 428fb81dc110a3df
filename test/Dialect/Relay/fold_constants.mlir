// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --cse --split-input-file | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[5.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    return %[[C]]
func.func @constants() -> tensor<2xf32> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.constant dense<3.0> : tensor<f32>
  %0 = relay.mul %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = relay.add %0, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = relay.clip %1 {min = 5.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Several results at once.
// CHECK-LABEL: func.func @several
// CHECK-DAG:     relay.constant dense<[1, 2]> : tensor<2xi8>
// CHECK-DAG:     relay.constant dense<3> : tensor<1xi8>
// CHECK-NOT:     relay.split
func.func @several() -> (tensor<2xi8>, tensor<1xi8>) {
  %a = relay.constant dense<[1, 2, 3]> : tensor<3xi8>
  %0:2 = relay.split %a {axis = 0 : i64, sections = array<i64: 2, 1>} : (tensor<3xi8>) -> (tensor<2xi8>, tensor<1xi8>)
  return %0#0, %0#1 : tensor<2xi8>, tensor<1xi8>
}

// -----

// What has no value stays a call: the error belongs to the run.
// CHECK-LABEL: func.func @no_value
// CHECK:         relay.div
func.func @no_value() -> tensor<i32> {
  %a = relay.constant dense<1> : tensor<i32>
  %b = relay.constant dense<0> : tensor<i32>
  %0 = relay.div %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// Large results stay calls.
// CHECK-LABEL: func.func @large
// CHECK:         relay.broadcast_to
func.func @large() -> tensor<1024x1024xf32> {
  %a = relay.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = relay.slice %a {begin = array<i64: 0>, end = array<i64: 1>} : (tensor<2x1xf32>) -> tensor<1x1xf32>
  %0 = relay.broadcast_to %b {shape = array<i64: 1024, 1024>} : (tensor<1x1xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

// Unused calls and equal calls go; a write to a cell stays.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT:    relay.ref.write
// CHECK-NEXT:    return
// CSE-LABEL: func.func @unused
// CSE-NEXT:    relay.ref.write
// CSE-NEXT:    return
func.func @unused(%x: tensor<2xf32>, %r: !relay.ref<tensor<2xf32>>) {
  %0 = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  relay.ref.write %r, %x : !relay.ref<tensor<2xf32>>, tensor<2xf32>
  return
}

// -----

// CSE-LABEL: func.func @equal
// CSE-NEXT:    %[[E:.*]] = relay.exp
// CSE-NEXT:    relay.add %[[E]], %[[E]]
func.func @equal(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = relay.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
