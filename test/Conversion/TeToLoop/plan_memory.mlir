// RUN: fusion-opt %s --split-input-file --pass-pipeline='builtin.module(te-plan-memory)' | FileCheck %s

// The result of the last call is written to the output; the constant lies in its blob; scratch follows the buffers.

// CHECK: module attributes {fusion.constants = [dense<1.000000e+00> : tensor<8xf32>]}
func.func private @scale(memref<8xf32>, memref<8xf32>, memref<8xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @sum(memref<8xf32>, memref<1xf32> {llvm.noalias}, memref<128xi8>) attributes {loop.kernel, loop.workspace = 128 : i64}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<8xf32>, %[[OUT:[^:,]*]]: memref<1xf32>, %[[CONSTANTS:[^:,]*]]: memref<64xi8>, %[[WORKSPACE:[^:,]*]]: memref<192xi8>)
// CHECK-SAME: fusion.constant_offsets = array<i64: 0>
// CHECK-SAME: fusion.constants_bytes = 64
// CHECK-SAME: fusion.inputs = 1
// CHECK-SAME: fusion.outputs = 1
// CHECK-SAME: fusion.workspace_bytes = 192
// CHECK-SAME: relay.model = "net"
func.func @main(%x: tensor<2x4xf32> {relay.name = "x"}) -> tensor<f32> attributes {relay.model = "net"} {
  // CHECK-DAG: %[[W:.*]] = memref.view %[[CONSTANTS]]
  %w = te.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  // CHECK-DAG: %[[A:.*]] = arith.constant 128 : index
  // CHECK: %[[S:.*]] = memref.view %[[WORKSPACE]][%[[A]]][] : memref<192xi8> to memref<8xf32>
  // CHECK: call @scale(%[[X]], %[[W]], %[[S]])
  %s = te.call @scale(%x, %w) : (tensor<2x4xf32>, tensor<8xf32>) -> tensor<2x4xf32>
  // CHECK: %[[B:.*]] = arith.constant 0 : index
  // CHECK: %[[SCRATCH:.*]] = memref.view %[[WORKSPACE]][%[[B]]][] : memref<192xi8> to memref<128xi8>
  // CHECK: call @sum(%[[S]], %[[OUT]], %[[SCRATCH]])
  %r = te.call @sum(%s) : (tensor<2x4xf32>) -> tensor<f32>
  // CHECK-NOT: memref.copy
  // CHECK: return
  return %r : tensor<f32>
}

// -----

// Layers reuse the memory of those before: five buffers of 64 bytes need two.

func.func private @relu(memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[WORKSPACE:[^:,]*]]: memref<128xi8>)
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: memref.view %[[WORKSPACE]][%[[C0]]]
  %0 = te.call @relu(%x) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK: %[[C1:.*]] = arith.constant 64 : index
  // CHECK: memref.view %[[WORKSPACE]][%[[C1]]]
  %1 = te.call @relu(%0) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK: %[[C2:.*]] = arith.constant 0 : index
  // CHECK: memref.view %[[WORKSPACE]][%[[C2]]]
  %2 = te.call @relu(%1) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK: %[[C3:.*]] = arith.constant 64 : index
  // CHECK: memref.view %[[WORKSPACE]][%[[C3]]]
  %3 = te.call @relu(%2) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK: %[[C4:.*]] = arith.constant 0 : index
  // CHECK: memref.view %[[WORKSPACE]][%[[C4]]]
  %4 = te.call @relu(%3) : (tensor<16xf32>) -> tensor<16xf32>
  %5 = te.call @relu(%4) : (tensor<16xf32>) -> tensor<16xf32>
  return %5 : tensor<16xf32>
}

// -----

// A view is its source: the call writes the output through it, and keeps %0 alive as long as the view is used.

func.func private @relu(memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
func.func private @add(memref<16xf32>, memref<16xf32>, memref<16xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<16xf32>, %[[OUT:[^:,]*]]: memref<16xf32>, %{{[^:,]*}}: memref<0xi8>, %[[WORKSPACE:[^:,]*]]: memref<128xi8>)
func.func @main(%x: tensor<4x4xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[ZERO:.*]] = memref.view %[[WORKSPACE]]
  // CHECK: call @relu(%[[X]], %[[ZERO]])
  %0 = te.call @relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = te.view %0 : tensor<4x4xf32> -> tensor<16xf32>
  // CHECK: %[[ONE:.*]] = memref.view %[[WORKSPACE]]
  // CHECK: call @relu(%[[X]], %[[ONE]])
  %1 = te.call @relu(%x) : (tensor<4x4xf32>) -> tensor<16xf32>
  // CHECK: call @add(%[[ZERO]], %[[ONE]], %[[OUT]])
  %2 = te.call @add(%v, %1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %r = te.view %2 : tensor<16xf32> -> tensor<2x8xf32>
  // CHECK-NOT: memref.copy
  // CHECK: return
  return %r : tensor<2x8xf32>
}

// -----

// Arguments, constants, views of arguments and results that are returned twice are copied.

func.func private @relu(memref<4xf32>, memref<4xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:,]*]]: memref<4xf32>, %[[A:[^:,]*]]: memref<4xf32>, %[[B:[^:,]*]]: memref<2xi8>, %[[C:[^:,]*]]: memref<4xf32>, %[[D:[^:,]*]]: memref<4xf32>, %[[CONSTANTS:[^:,]*]]: memref<64xi8>, %{{[^:,]*}}: memref<0xi8>)
func.func @main(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2xui8>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[W:.*]] = memref.view %[[CONSTANTS]][%{{.*}}][] : memref<64xi8> to memref<2xi8>
  %w = te.constant dense<[1, 2]> : tensor<2xui8> : tensor<2xui8>
  %v = te.view %x : tensor<4xf32> -> tensor<2x2xf32>
  // CHECK: call @relu(%[[X]], %[[C]])
  %0 = te.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: memref.copy %[[X]], %[[A]]
  // CHECK-NEXT: memref.copy %[[W]], %[[B]]
  // CHECK-NEXT: memref.copy %[[C]], %[[D]]
  // CHECK-NEXT: return
  return %v, %w, %0, %0 : tensor<2x2xf32>, tensor<2xui8>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The same constant is stored once, others after it at the next multiple of 64.

// CHECK: fusion.constants = [dense<1> : tensor<2xi32>, dense<2> : tensor<2xi32>]
func.func private @pick(memref<2xi32>, memref<2xi32>, memref<2xi32>, memref<2xi32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: fusion.constant_offsets = array<i64: 0, 64>, fusion.constants_bytes = 128
func.func @main() -> tensor<2xi32> {
  %a = te.constant dense<1> : tensor<2xi32> : tensor<2xi32>
  %b = te.constant dense<2> : tensor<2xi32> : tensor<2xi32>
  %c = te.constant dense<1> : tensor<2xi32> : tensor<2xi32>
  %r = te.call @pick(%a, %b, %c) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// -----

// Empty tensors take no memory and are not copied.

func.func private @empty(memref<0xf32>, memref<0xf32> {llvm.noalias}) attributes {loop.kernel}
// CHECK-LABEL: func.func @main
// CHECK-SAME: memref<0xi8>)
func.func @main(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<0x4xf32>) {
  // CHECK: call @empty
  %0 = te.call @empty(%x) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = te.call @empty(%0) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  // CHECK-NOT: memref.copy
  return %x, %1 : tensor<0x4xf32>, tensor<0x4xf32>
}

// -----

// Without an entry, or with one that is planned, there is nothing to do.

// CHECK-NOT: fusion.constants
// CHECK-LABEL: func.func @other
// CHECK-SAME: (%{{[^:,]*}}: memref<4xf32>) {
func.func @other(%x: memref<4xf32>) { return }

// -----

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{[^:,]*}}: memref<0xi8>, %{{[^:,]*}}: memref<0xi8>) attributes {fusion.workspace_bytes = 0 : i64}
func.func @main(%c: memref<0xi8>, %w: memref<0xi8>) attributes {fusion.workspace_bytes = 0 : i64} { return }
