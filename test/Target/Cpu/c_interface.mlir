// RUN: fusion-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(fusion-c-interface)' | FileCheck %s

// CHECK: llvm.mlir.global external constant @fusion_constants() {{.*}}alignment = 64 : i64{{.*}} : !llvm.array<128 x i8>
// CHECK: llvm.func @fusion_run(%[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr, %[[WORKSPACE:.*]]: !llvm.ptr) -> i32 {
// CHECK-NEXT: %[[A:.*]] = llvm.load %[[IN]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: %[[AT:.*]] = llvm.getelementptr %[[IN]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT: %[[B:.*]] = llvm.load %[[AT]]
// CHECK-NEXT: %[[R:.*]] = llvm.load %[[OUT]]
// CHECK-NEXT: %[[CONSTANTS:.*]] = llvm.mlir.addressof @fusion_constants
// CHECK-NEXT: llvm.call @fusion_main(%[[A]], %[[B]], %[[R]], %[[CONSTANTS]], %[[WORKSPACE]])
// CHECK-NEXT: %[[OK:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: llvm.return %[[OK]] : i32
// CHECK: llvm.func internal @fusion_main(
// CHECK-NOT: @main
llvm.func @main(%a: !llvm.ptr, %b: !llvm.ptr, %r: !llvm.ptr, %constants: !llvm.ptr, %workspace: !llvm.ptr)
    attributes {fusion.inputs = 2 : i64, fusion.outputs = 1 : i64, fusion.constants_bytes = 128 : i64} {
  llvm.return
}

// -----

// Without an entry there is nothing to wrap.

// CHECK-NOT: fusion_run
// CHECK: llvm.func @other
llvm.func @other() { llvm.return }

// -----

// expected-error @+1 {{@main is not in the LLVM dialect yet}}
func.func @main() { return }

// -----

// expected-error @+1 {{@main has no fusion.inputs, which te-plan-memory sets}}
llvm.func @main() { llvm.return }

// -----

// expected-error @+1 {{@main must take 4 pointers: 1 inputs, 1 outputs, the constants and the workspace}}
llvm.func @main(%a: !llvm.ptr, %b: i64, %c: !llvm.ptr, %d: !llvm.ptr)
    attributes {fusion.inputs = 1 : i64, fusion.outputs = 1 : i64, fusion.constants_bytes = 0 : i64} {
  llvm.return
}

// -----

// expected-error @+1 {{has a name that the C interface needs}}
llvm.func @fusion_run() { llvm.return }
llvm.func @main(%a: !llvm.ptr, %b: !llvm.ptr)
    attributes {fusion.inputs = 0 : i64, fusion.outputs = 0 : i64, fusion.constants_bytes = 0 : i64} {
  llvm.return
}

// -----

// Code of this compiler passes addresses.
// CHECK: llvm.func @tile_4(%[[X:.*]]: i64, %[[Y:.*]]: i64, %[[W:.*]]: i64) {
// CHECK: %[[XP:.*]] = llvm.inttoptr %[[X]] : i64 to !llvm.ptr
// CHECK: %[[YP:.*]] = llvm.inttoptr %[[Y]]
// CHECK: %[[WP:.*]] = llvm.inttoptr %[[W]]
// CHECK: %[[C:.*]] = llvm.mlir.addressof @fusion_constants
// CHECK: llvm.call @fusion_main(%[[XP]], %[[YP]], %[[C]], %[[WP]])
// CHECK: llvm.return
llvm.func @main(%x: !llvm.ptr, %y: !llvm.ptr, %constants: !llvm.ptr, %workspace: !llvm.ptr) attributes {fusion.run = "tile_4", fusion.by_address, fusion.inputs = 1 : i64, fusion.outputs = 1 : i64, fusion.constants_bytes = 0 : i64} {
  llvm.return
}
