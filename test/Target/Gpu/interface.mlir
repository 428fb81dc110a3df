// RUN: fusion-opt %s --fusion-c-interface --split-input-file --verify-diagnostics | FileCheck %s

// The run time has fusion_run; it takes the program from here.
// CHECK:     llvm.mlir.global external constant @fusion_constants
// CHECK-DAG: llvm.mlir.global internal constant @fusion_gpu_input_bytes(dense<16> : tensor<1xi64>)
// CHECK-DAG: llvm.mlir.global internal constant @fusion_gpu_output_bytes(dense<8> : tensor<1xi64>)
// CHECK-DAG: llvm.func internal @fusion_main_of(%{{.*}}: !llvm.ptr)
// CHECK:     llvm.mlir.global external @fusion_gpu_program()
// CHECK:       llvm.mlir.constant(2 : i32)
// CHECK:       llvm.mlir.addressof @fusion_gpu_input_bytes
// CHECK:       llvm.mlir.addressof @fusion_constants
// CHECK:       llvm.mlir.constant(128 : i64)
// CHECK:       llvm.mlir.constant(4096 : i64)
// CHECK:       llvm.mlir.addressof @fusion_main_of
// CHECK-NOT: @fusion_run
llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %constants: !llvm.ptr, %workspace: !llvm.ptr)
    attributes {fusion.inputs = 1 : i64, fusion.outputs = 1 : i64, fusion.constants_bytes = 128 : i64,
                fusion.workspace_bytes = 4096 : i64, fusion.device = 2 : i64, fusion.tensor_bytes = array<i64: 16, 8>} {
  llvm.return
}

// -----

// expected-error @+1 {{has no fusion.tensor_bytes, which fusion-gpu-host sets}}
llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %constants: !llvm.ptr, %workspace: !llvm.ptr)
    attributes {fusion.inputs = 1 : i64, fusion.outputs = 1 : i64, fusion.constants_bytes = 0 : i64, fusion.device = 1 : i64} {
  llvm.return
}
