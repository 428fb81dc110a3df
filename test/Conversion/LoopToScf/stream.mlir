// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' | FileCheck %s

// Past the caches where all buffers begin at a line; a fence behind, since others see such stores in any order.
// CHECK-LABEL: func.func @stream
// CHECK:         %[[A:.*]] = memref.extract_aligned_pointer_as_index %arg0
// CHECK:         %[[B:.*]] = memref.extract_aligned_pointer_as_index %arg1
// CHECK:         %[[ALL:.*]] = arith.ori %[[A]], %[[B]] : index
// CHECK:         %[[REST:.*]] = arith.remui %[[ALL]], %{{.*}} : index
// CHECK:         %[[LINES:.*]] = arith.cmpi eq, %[[REST]], %{{.*}} : index
// CHECK:         scf.if %[[LINES]] {
// CHECK-NEXT:      vector.store %{{.*}}, %arg1[%arg2] {alignment = 64 : i64, nontemporal = true} : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      vector.store %{{.*}}, %arg1[%arg2] : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    llvm.fence seq_cst
// CHECK-NEXT:    return
func.func @stream(%a: memref<64xf32>, %b: memref<64xf32>, %i: index) {
  %x = loop.load %a[%i] : memref<64xf32> -> vector<16xf32>
  loop.store %x, %b[%i] {stream} : vector<16xf32>, memref<64xf32>
  return
}

// A shorter vector begins at a multiple of its own bytes.
// CHECK-LABEL: func.func @short
// CHECK:         vector.store %{{.*}}, %{{.*}} {alignment = 32 : i64, nontemporal = true} : memref<64xf32>, vector<8xf32>
func.func @short(%a: vector<8xf32>, %b: memref<64xf32>, %i: index) {
  loop.store %a, %b[%i] {stream} : vector<8xf32>, memref<64xf32>
  return
}

// CHECK-LABEL: func.func @none
// CHECK-NOT:     nontemporal
// CHECK-NOT:     llvm.fence
func.func @none(%a: memref<64xf32>, %b: memref<64xf32>, %i: index) {
  %x = loop.load %a[%i] : memref<64xf32> -> vector<16xf32>
  loop.store %x, %b[%i] : vector<16xf32>, memref<64xf32>
  return
}
