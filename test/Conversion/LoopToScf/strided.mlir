// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' --split-input-file | FileCheck %s

// Every second element: two loads, the second of which ends with the last element, and a shuffle.
// CHECK-LABEL: func.func @second
// CHECK:         %[[A:.*]] = vector.load %arg0[%arg2] : memref<64xf32>, vector<4xf32>
// CHECK:         %[[I:.*]] = arith.addi %arg2, %c3
// CHECK:         %[[B:.*]] = vector.load %arg0[%[[I]]] : memref<64xf32>, vector<4xf32>
// CHECK:         vector.shuffle %[[A]], %[[B]] [0, 2, 5, 7]
// CHECK-NOT:     vector.gather
func.func @second(%x: memref<64xf32>, %y: memref<4xf32>, %i: index) {
  %zero = arith.constant 0 : index
  %a = loop.load_strided %x[%i] by 2 : memref<64xf32> -> vector<4xf32>
  loop.store %a, %y[%zero] : vector<4xf32>, memref<4xf32>
  return
}

// -----

// Longer strides are gathered.
// CHECK-LABEL: func.func @tenth
// CHECK:         vector.gather
func.func @tenth(%x: memref<64xf32>, %y: memref<4xf32>, %i: index) {
  %zero = arith.constant 0 : index
  %a = loop.load_strided %x[%i] by 10 : memref<64xf32> -> vector<4xf32>
  loop.store %a, %y[%zero] : vector<4xf32>, memref<4xf32>
  return
}
