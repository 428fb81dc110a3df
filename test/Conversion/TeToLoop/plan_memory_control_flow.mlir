// RUN: fusion-opt %s --split-input-file --pass-pipeline='builtin.module(te-plan-memory)' | FileCheck %s

// Both branches write the result, here the output itself: a call directly, a value from outside by a copy.

func.func private @relu(memref<4xf32>, memref<4xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<4xf32>, %[[COND:[^:,]*]]: memref<1xi8>, %[[OUT:[^:,]*]]: memref<4xf32>,
func.func @main(%x: tensor<4xf32>, %cond: tensor<i1>) -> tensor<4xf32> {
  // CHECK: %[[BYTE:.*]] = memref.load %[[COND]]
  // CHECK: %[[C:.*]] = arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
  %c = tensor.extract %cond[] : tensor<i1>
  // CHECK: scf.if %[[C]] {
  %r = scf.if %c -> tensor<4xf32> {
    // CHECK-NEXT: func.call @relu(%[[X]], %[[OUT]])
    // CHECK-NEXT: } else {
    %0 = te.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    // CHECK-NEXT: memref.copy %[[X]], %[[OUT]]
    // CHECK-NEXT: }
    scf.yield %x : tensor<4xf32>
  }
  // CHECK-NEXT: return
  return %r : tensor<4xf32>
}

// -----

// The branches' own buffers share memory; the result's does not, it is live through both.

func.func private @relu(memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[WORKSPACE:[^:,]*]]: memref<128xi8>)
func.func @main(%x: tensor<16xf32>, %cond: tensor<i1>) -> tensor<16xf32> {
  %c = tensor.extract %cond[] : tensor<i1>
  // CHECK: %[[R:.*]] = memref.view %[[WORKSPACE]]
  // CHECK: scf.if
  %r = scf.if %c -> tensor<16xf32> {
    // CHECK: %[[AT:.*]] = arith.constant [[OFFSET:.*]] : index
    // CHECK: %[[T:.*]] = memref.view %[[WORKSPACE]][%[[AT]]]
    // CHECK: func.call @relu(%{{.*}}, %[[T]])
    // CHECK: func.call @relu(%[[T]], %[[R]])
    %0 = te.call @relu(%x) : (tensor<16xf32>) -> tensor<16xf32>
    %1 = te.call @relu(%0) : (tensor<16xf32>) -> tensor<16xf32>
    scf.yield %1 : tensor<16xf32>
  } else {
    // CHECK: %[[AT:.*]] = arith.constant [[OFFSET]] : index
    %2 = te.call @relu(%x) : (tensor<16xf32>) -> tensor<16xf32>
    // CHECK: func.call @relu(%{{.*}}, %[[R]])
    %3 = te.call @relu(%2) : (tensor<16xf32>) -> tensor<16xf32>
    scf.yield %3 : tensor<16xf32>
  }
  %s = te.call @relu(%r) : (tensor<16xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}

// -----

// The state is copied in, and swapped with one value set aside.

func.func private @less(memref<4xf32>, memref<1xi8> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<4xf32>, %[[Y:[^:,]*]]: memref<4xf32>, %[[OUT:[^:,]*]]: memref<4xf32>,
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = memref.view
  // CHECK: %[[B:.*]] = memref.view
  // CHECK: memref.copy %[[X]], %[[A]]
  // CHECK: memref.copy %[[Y]], %[[B]]
  // CHECK: scf.while : () -> () {
  %r:2 = scf.while (%a = %x, %b = %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK: func.call @less(%[[A]], %[[T:.*]]) :
    // CHECK: memref.load %[[T]]
    // CHECK: %[[C:.*]] = arith.cmpi
    // CHECK: scf.condition(%[[C]])
    %t = te.call @less(%a) : (tensor<4xf32>) -> tensor<i1>
    %c = tensor.extract %t[] : tensor<i1>
    scf.condition(%c) %a, %b : tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    // CHECK: %[[SAVED:.*]] = memref.view
    // CHECK-NEXT: memref.copy %[[A]], %[[SAVED]]
    // CHECK-NEXT: memref.copy %[[B]], %[[A]]
    // CHECK-NEXT: memref.copy %[[SAVED]], %[[B]]
    // CHECK-NEXT: scf.yield
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: memref.copy %[[A]], %[[OUT]]
  return %r#0 : tensor<4xf32>
}

// -----

// What a loop uses from outside stays where it is until the loop ends: %w shares no memory with %n, though it is
// last used before %n is made. The first state is written in place, since only the loop wants it.

func.func private @relu(memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @add(memref<16xf32>, memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @less(memref<16xf32>, memref<1xi8> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[WORKSPACE:[^:,]*]]: memref<256xi8>)
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: %[[W:.*]] = memref.view
  // CHECK: call @relu(%{{.*}}, %[[W]])
  %w = te.call @relu(%x) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK: %[[S:.*]] = memref.view
  // CHECK: call @relu(%[[W]], %[[S]])
  %0 = te.call @relu(%w) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK-NOT: memref.copy
  // CHECK: scf.while
  %r = scf.while (%a = %0) : (tensor<16xf32>) -> tensor<16xf32> {
    %t = te.call @less(%a) : (tensor<16xf32>) -> tensor<i1>
    %c = tensor.extract %t[] : tensor<i1>
    scf.condition(%c) %a : tensor<16xf32>
  } do {
  ^bb0(%a: tensor<16xf32>):
    // CHECK: func.call @add(%[[S]], %[[W]], %[[M:.*]]) :
    %m = te.call @add(%a, %w) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    // CHECK: func.call @relu(%[[M]], %[[N:.*]]) :
    %n = te.call @relu(%m) : (tensor<16xf32>) -> tensor<16xf32>
    // CHECK: memref.copy %[[N]], %[[S]]
    scf.yield %n : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// -----

// What the condition computes and hands on has its own memory, made before the loop.

func.func private @relu(memref<4xf32>, memref<4xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @less(memref<4xf32>, memref<1xi8> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[S:.*]] = memref.view
  // CHECK: %[[P:.*]] = memref.view
  // CHECK: scf.while
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: func.call @relu(%[[S]], %[[P]])
    %n = te.call @relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %t = te.call @less(%n) : (tensor<4xf32>) -> tensor<i1>
    %c = tensor.extract %t[] : tensor<i1>
    scf.condition(%c) %n : tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>):
    // CHECK: memref.copy %[[P]], %[[S]]
    scf.yield %b : tensor<4xf32>
  }
  // CHECK: memref.copy %[[P]], %{{.*}}
  return %r : tensor<4xf32>
}
