// RUN: fusion-opt %s --split-input-file --pass-pipeline='builtin.module(te-plan-memory)' | FileCheck %s

// Pieces of a result of a kernel lie in its memory, which lives as long as any of them is read: that of %0 begins at 0, and %1, which
// comes before the last piece is read, lies behind it.

func.func private @step(memref<5xf32>, memref<5xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @all(memref<20xf32>, memref<20xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<20xf32>, %[[A:[^:,]*]]: memref<5xf32>, %[[B:[^:,]*]]: memref<5xf32>, %{{[^:,]*}}: memref<0xi8>, %[[WORKSPACE:[^:,]*]]: memref<192xi8>)
func.func @main(%x: tensor<4x5xf32>) -> (tensor<1x5xf32>, tensor<5xf32>) {
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[ALL:.*]] = memref.view %[[WORKSPACE]][%[[C0]]][] : memref<192xi8> to memref<20xf32>
  // CHECK: call @all(%[[X]], %[[ALL]])
  %0 = te.call @all(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK: %[[C20:.*]] = arith.constant 20 : index
  // CHECK: %[[FIRST:.*]] = memref.view %[[WORKSPACE]][%[[C20]]][] : memref<192xi8> to memref<5xf32>
  %p = te.view %0 from 5 : tensor<4x5xf32> -> tensor<1x5xf32>
  // CHECK: %[[C128:.*]] = arith.constant 128 : index
  // CHECK: %[[ONE:.*]] = memref.view %[[WORKSPACE]][%[[C128]]][] : memref<192xi8> to memref<5xf32>
  // CHECK: call @step(%[[FIRST]], %[[ONE]])
  %1 = te.call @step(%p) : (tensor<1x5xf32>) -> tensor<1x5xf32>
  // CHECK: call @step(%[[ONE]], %[[A]])
  %2 = te.call @step(%1) : (tensor<1x5xf32>) -> tensor<1x5xf32>
  // A piece of a piece.
  // CHECK: %[[C40:.*]] = arith.constant 40 : index
  // CHECK: memref.view %[[WORKSPACE]][%[[C40]]][] : memref<192xi8> to memref<10xf32>
  %h = te.view %0 from 10 : tensor<4x5xf32> -> tensor<2x5xf32>
  // CHECK: %[[C60:.*]] = arith.constant 60 : index
  // CHECK: %[[LAST:.*]] = memref.view %[[WORKSPACE]][%[[C60]]][] : memref<192xi8> to memref<5xf32>
  %q = te.view %h from 5 : tensor<2x5xf32> -> tensor<5xf32>
  // CHECK: call @step(%[[LAST]], %[[B]])
  %3 = te.call @step(%q) : (tensor<5xf32>) -> tensor<5xf32>
  return %2, %3 : tensor<1x5xf32>, tensor<5xf32>
}

// -----

// An input and an output of which pieces are taken are passed as bytes; a constant's piece lies among the constants. A result that is
// a piece is copied.

func.func private @step(memref<5xf32>, memref<5xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @all(memref<20xf32>, memref<20xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<80xi8>, %[[A:[^:,]*]]: memref<80xi8>, %[[B:[^:,]*]]: memref<5xf32>, %[[C:[^:,]*]]: memref<5xf32>, %[[CONSTANTS:[^:,]*]]: memref<128xi8>,
func.func @main(%x: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>, tensor<5xf32>) {
  // CHECK-DAG: %[[XS:.*]] = memref.view %[[X]][%{{.*}}][] : memref<80xi8> to memref<20xf32>
  // CHECK-DAG: %[[AS:.*]] = memref.view %[[A]][%{{.*}}][] : memref<80xi8> to memref<20xf32>
  // CHECK: call @all(%[[XS]], %[[AS]])
  %0 = te.call @all(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK: %[[C40:.*]] = arith.constant 40 : index
  // CHECK: %[[P:.*]] = memref.view %[[X]][%[[C40]]][] : memref<80xi8> to memref<5xf32>
  %p = te.view %x from 10 : tensor<4x5xf32> -> tensor<5xf32>
  // CHECK: call @step(%[[P]], %{{.*}})
  %1 = te.call @step(%p) : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: memref.view %[[CONSTANTS]]
  // CHECK: %[[C60:.*]] = arith.constant 60 : index
  // CHECK: %[[W:.*]] = memref.view %[[CONSTANTS]][%[[C60]]][] : memref<128xi8> to memref<5xf32>
  %w = te.constant dense<[[1., 2., 3., 4., 5.], [1., 2., 3., 4., 5.], [1., 2., 3., 4., 5.], [6., 7., 8., 9., 0.]]> : tensor<4x5xf32> : tensor<4x5xf32>
  %q = te.view %w from 15 : tensor<4x5xf32> -> tensor<5xf32>
  // CHECK: call @step(%[[W]], %[[B]])
  %2 = te.call @step(%q) : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: %[[R:.*]] = memref.view %[[A]]
  %r = te.view %0 from 5 : tensor<4x5xf32> -> tensor<5xf32>
  // CHECK: memref.copy %[[R]], %[[C]]
  return %0, %2, %r : tensor<4x5xf32>, tensor<5xf32>, tensor<5xf32>
}

// -----

// What is updated in place is no tensor of which a piece is read afterwards: it is copied first.

func.func private @make(memref<4xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @put(memref<4xf32>, memref<1xf32>, memref<4xf32> {llvm.noalias}) attributes {loop.kernel, loop.updates = 0 : i64}
func.func private @get(memref<1xf32>, memref<4xf32>, memref<1xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
func.func @main(%v: tensor<1xf32>) -> tensor<1xf32> {
  // CHECK: call @make(%[[X:[^)]*]])
  %x = te.call @make() : () -> tensor<4xf32>
  // CHECK: %[[P:.*]] = memref.view
  %p = te.view %x from 1 : tensor<4xf32> -> tensor<1xf32>
  // CHECK: memref.copy %[[X]], %[[Y:.*]] :
  // CHECK: call @put(%[[X]], %{{.*}}, %[[Y]])
  %y = te.call @put(%x, %v) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK: call @get(%[[P]], %[[Y]],
  %z = te.call @get(%p, %y) : (tensor<1xf32>, tensor<4xf32>) -> tensor<1xf32>
  return %z : tensor<1xf32>
}
