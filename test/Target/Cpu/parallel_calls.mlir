// RUN: fusion-opt %s --fusion-parallel-calls | FileCheck %s

// CHECK:       llvm.func @fusion_parallel(i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func internal @k_part_0_of(
// CHECK-SAME:      %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[CONTEXT:.*]]: !llvm.ptr) {
// CHECK:         %[[ALL:.*]] = llvm.load %[[CONTEXT]] : !llvm.ptr -> !llvm.struct<(ptr, f32)>
// CHECK:         %[[P:.*]] = llvm.extractvalue %[[ALL]][0]
// CHECK:         %[[F:.*]] = llvm.extractvalue %[[ALL]][1]
// CHECK:         llvm.call @k_part_0(%[[BEGIN]], %[[END]], %[[P]], %[[F]])
// CHECK-LABEL: llvm.func internal @k_parallel_0(
// CHECK-SAME:      %[[COUNT:.*]]: i64, %[[X:.*]]: !llvm.ptr {llvm.noalias}, %[[S:.*]]: f32) {
// CHECK:         %[[PLACE:.*]] = llvm.alloca
// CHECK:         llvm.insertvalue %[[X]]
// CHECK:         %[[BOTH:.*]] = llvm.insertvalue %[[S]]
// CHECK:         llvm.store %[[BOTH]], %[[PLACE]]
// CHECK:         %[[PART:.*]] = llvm.mlir.addressof @k_part_0_of
// CHECK:         llvm.call @fusion_parallel(%[[COUNT]], %[[PART]], %[[PLACE]])
// CHECK:       llvm.func internal @k_part_0(
llvm.func @k_parallel_0(i64, !llvm.ptr {llvm.noalias}, f32) attributes {fusion.part = @k_part_0}
llvm.func @k_part_0(%begin: i64, %end: i64, %x: !llvm.ptr, %s: f32) {
  llvm.store %s, %x : f32, !llvm.ptr
  llvm.return
}
