// RUN: fusion-opt %s --bf16-as-bits | FileCheck %s

// What moves is integers, through branches too.
// CHECK-LABEL: llvm.func @moved(
// CHECK-NOT:     bf16
// CHECK:         %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK:         llvm.br ^[[NEXT:.*]](%[[A]] : i16)
// CHECK:       ^[[NEXT]](%[[B:[0-9]+]]: i16):
// CHECK:         %[[C:[0-9]+]] = llvm.select %arg3, %[[B]], %{{[0-9]+}} : i1, i16
// CHECK-NEXT:    llvm.store %[[C]], %arg1 : i16, !llvm.ptr
llvm.func @moved(%x: !llvm.ptr, %y: !llvm.ptr, %i: i16, %p: i1) {
  %a = llvm.load %x : !llvm.ptr -> bf16
  llvm.br ^next(%a : bf16)
^next(%b: bf16):
  %j = llvm.bitcast %i : i16 to bf16
  %c = llvm.select %p, %b, %j : i1, bf16
  llvm.store %c, %y : bf16, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @vectors(
// CHECK:         %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK:         llvm.store %[[A]], %{{.*}} : vector<8xi16>, !llvm.ptr
llvm.func @vectors(%x: !llvm.ptr, %y: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> vector<8xbf16>
  llvm.store %a, %y : vector<8xbf16>, !llvm.ptr
  llvm.return
}

// Constants, arguments and arithmetic have casts between.
// CHECK-LABEL: llvm.func @others(
// CHECK-SAME:      %[[S:.*]]: bf16, %{{.*}}: !llvm.ptr)
// CHECK:         %[[BITS:.*]] = llvm.bitcast %[[S]] : bf16 to i16
// CHECK:         %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : bf16) : bf16
// CHECK:         llvm.fadd %{{.*}}, %{{.*}} : bf16
// CHECK:         %[[SUM:.*]] = llvm.bitcast %{{.*}} : bf16 to i16
// CHECK:         llvm.store %[[SUM]], %{{.*}} : i16, !llvm.ptr
llvm.func @others(%s: bf16, %y: !llvm.ptr) {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %sum = llvm.fadd %s, %one : bf16
  llvm.store %sum, %y : bf16, !llvm.ptr
  llvm.return
}
