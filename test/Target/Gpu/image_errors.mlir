// RUN: fusion-opt %s --fusion-gpu-image='vendor=nvidia chip=sm_80' --verify-diagnostics

// expected-error @+1 {{'gpu.module' op gets no code: it calls __nv_exp, and no library for GPUs is linked; compute that by other functions, in f32 where it is of f64, or name one by --device-library}}
gpu.module @k_gpu {
  llvm.func @__nv_exp(f64) -> f64
  llvm.func @k_0(%x: !llvm.ptr) {
    %a = llvm.load %x : !llvm.ptr -> f64
    %b = llvm.call @__nv_exp(%a) : (f64) -> f64
    llvm.store %b, %x : f64, !llvm.ptr
    llvm.return
  }
}
