// RUN: fusion-opt %s --fusion-gpu-calls='warp=64' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG:   llvm.func @fusion_gpu_launch(!llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG:   llvm.mlir.global internal constant @k_gpu_image("code")
// CHECK-DAG:   llvm.mlir.global internal constant @k_0_name("k_0\00")
// CHECK:       llvm.mlir.global internal @k_0_kernel()
// CHECK:         llvm.mlir.addressof @k_0_name
// CHECK:         llvm.mlir.addressof @k_gpu_image
// CHECK:         llvm.mlir.constant(4 : i64)
// CHECK:         dense<[6, 1, 1]>
// CHECK:         dense<[32, 2, 1]>
// CHECK:         llvm.mlir.constant(128 : i32)
// CHECK:         llvm.mlir.constant(2 : i32)
// CHECK:         llvm.mlir.constant(64 : i32)
// CHECK:       llvm.func internal @k_launch_0(%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr) {
// CHECK:         %[[LIST:.*]] = llvm.alloca
// CHECK:         llvm.store %[[X]]
// CHECK:         llvm.store %[[Y]]
// CHECK:         %[[KERNEL:.*]] = llvm.mlir.addressof @k_0_kernel
// CHECK:         llvm.call @fusion_gpu_launch(%[[KERNEL]], %[[LIST]])
// CHECK-NOT:   gpu.module
gpu.module @k_gpu attributes {fusion.image = "code"} {
}
llvm.func @k_launch_0(!llvm.ptr, !llvm.ptr) attributes {
  fusion.launch = {block = array<i64: 32, 2, 1>, grid = array<i64: 6, 1, 1>, kernel = "k_0", module = "k_gpu", shared = 128 : i64}, sym_visibility = "private"}

// -----

// Emulated, the kernel is a function of the host.
// CHECK:       llvm.func internal @k_0_of(%[[LIST:.*]]: !llvm.ptr) {
// CHECK:         llvm.call @k_0(%{{.*}})
// CHECK:       llvm.mlir.global internal @k_0_kernel()
// CHECK:         llvm.mlir.addressof @k_0_of
llvm.func @k_0(%x: !llvm.ptr) { llvm.return }
llvm.func @k_launch_0(!llvm.ptr) attributes {
  fusion.launch = {block = array<i64: 32, 1, 1>, grid = array<i64: 1, 1, 1>, kernel = "k_0", module = "k_gpu", shared = 0 : i64}, sym_visibility = "private"}

// -----

// expected-error @+1 {{has a fusion.launch without three numbers "grid"}}
llvm.func @k_launch_0(!llvm.ptr) attributes {
  fusion.launch = {block = array<i64: 32, 1, 1>, kernel = "k_0", module = "k_gpu", shared = 0 : i64}, sym_visibility = "private"}

// -----

// Nothing to do.
// CHECK-LABEL: llvm.func @main
llvm.func @main() { llvm.return }
