// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1}),fusion-gpu-image{vendor=nvidia chip=sm_80})' | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-rocdl{chipset=gfx942 runtime=HIP use-bare-ptr-memref-call-conv=1}),fusion-gpu-image{vendor=amd chip=gfx942 emit=assembly})' | FileCheck %s --check-prefix=AMD
// RUN: not fusion-opt %s --fusion-gpu-image='vendor=abacus' 2>&1 | FileCheck %s --check-prefix=VENDOR
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1}),fusion-gpu-image{vendor=nvidia chip=sm_80 assembler=/no/such/ptxas})' 2>&1 | FileCheck %s --check-prefix=ASSEMBLER

// The image is text that ends with a NUL.
// CHECK:      gpu.module @k_gpu attributes {fusion.image =
// CHECK-SAME: .target sm_80
// CHECK-SAME: .entry k_0
// CHECK-SAME: \00"} {
// CHECK-NOT:  llvm.func
// What has no functions of a GPU stays.
// CHECK:      func.func @main
// AMD:        gpu.module @k_gpu attributes {fusion.image =
// AMD-SAME:   .amdgcn_target
// AMD-SAME:   gfx942
// AMD-SAME:   .amdhsa_kernel k_0
// VENDOR:     gets no code: there is no vendor "abacus"
// ASSEMBLER:  gets no code: running /no/such/ptxas failed
// ASSEMBLER-SAME: name ptxas in FUSION_PTXAS
gpu.module @k_gpu {
  gpu.func @k_0(%x: memref<32xf32>) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    memref.store %one, %x[%t] : memref<32xf32>
    gpu.return
  }
}

func.func @main() {
  return
}
