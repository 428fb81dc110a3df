// RUN: fusion-opt %s --fusion-gpu-host='device=2' --split-input-file | FileCheck %s

// Tensors are on the device: copies and conditions go through the run time.
// CHECK:       func.func private @fusion_gpu_copy(index, index, index)
// CHECK:       func.func private @fusion_gpu_read(index, index, index)
// CHECK:       func.func @main(%[[X:.*]]: memref<4xf32>, %[[C:.*]]: memref<1xi8>, %[[Y:.*]]: memref<4xf32>)
// CHECK-SAME:      fusion.device = 2 : i64
// CHECK-SAME:      fusion.tensor_bytes = array<i64: 16, 1, 16>
// CHECK:         %[[HERE:.*]] = memref.alloca() : memref<1xi8>
// CHECK:         memref.extract_aligned_pointer_as_index %[[HERE]]
// CHECK:         memref.extract_aligned_pointer_as_index %[[C]]
// CHECK:         call @fusion_gpu_read
// CHECK:         memref.load %[[HERE]]
// CHECK:         scf.if
// CHECK:           %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK:           %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:           call @fusion_gpu_copy(%[[TO]], %[[FROM]], %{{.*}})
// CHECK-NOT:     memref.copy
func.func @main(%x: memref<4xf32>, %c: memref<1xi8>, %y: memref<4xf32>)
    attributes {fusion.inputs = 2 : i64, fusion.outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %0 = memref.load %c[%zero] : memref<1xi8>
  %no = arith.constant 0 : i8
  %1 = arith.cmpi ne, %0, %no : i8
  scf.if %1 {
    memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

// Functions without a program around them stay.
// CHECK-LABEL: @k
// CHECK-NEXT:    memref.copy
func.func @k(%x: memref<4xf32>, %y: memref<4xf32>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
