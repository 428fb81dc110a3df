// RUN: fusion-opt %s --split-input-file --pass-pipeline='builtin.module(te-plan-memory)' | FileCheck %s

// A tensor that nobody wants afterwards is updated in place, here in each iteration.

func.func private @put(memref<16xf32>, memref<1xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel, loop.updates = 0 : i64}
func.func private @less(memref<1xf32>, memref<1xi8> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16xf32>, %u: tensor<f32>) -> tensor<16xf32> {
  // CHECK: memref.copy %{{.*}}, %[[S:.*]] :
  // CHECK: scf.while
  %r = scf.while (%a = %x) : (tensor<16xf32>) -> tensor<16xf32> {
    %t = te.call @less(%u) : (tensor<f32>) -> tensor<i1>
    %c = tensor.extract %t[] : tensor<i1>
    scf.condition(%c) %a : tensor<16xf32>
  } do {
  ^bb0(%a: tensor<16xf32>):
    // CHECK-NOT: memref.copy
    // CHECK: func.call @put(%[[S]], %{{.*}}, %[[S]])
    // CHECK-NOT: memref.copy
    // CHECK: scf.yield
    %n = te.call @put(%a, %u) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
    scf.yield %n : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// -----

// One that is still wanted is copied first, and so is an input.

func.func private @put(memref<16xf32>, memref<1xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel, loop.updates = 0 : i64}
func.func private @add(memref<16xf32>, memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<16xf32>
func.func @main(%x: tensor<16xf32>, %u: tensor<f32>) -> tensor<16xf32> {
  // CHECK: memref.copy %[[X]], %[[A:.*]] :
  // CHECK: call @put(%[[X]], %{{.*}}, %[[A]])
  %a = te.call @put(%x, %u) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  // CHECK: memref.copy %[[A]], %[[B:.*]] :
  // CHECK: call @put(%[[A]], %{{.*}}, %[[B]])
  %b = te.call @put(%a, %u) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  // CHECK: call @add(%[[A]], %[[B]]
  %c = te.call @add(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %c : tensor<16xf32>
}
