// RUN: fusion-opt %s --convert-loop-to-gpu | FileCheck %s
// RUN: fusion-opt %s --convert-loop-to-gpu --gpu-emulate | FileCheck %s --check-prefix=EMULATED

// Copies of 16 bytes go around the first cache. Where the condition does not hold, nothing is copied.
// CHECK-LABEL: gpu.func @k_0
// CHECK-SAME:    workgroup(%[[S:.*]] : memref<160xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK:         nvgpu.device_async_copy %{{.*}}[%{{.*}}], %[[S]][%{{.*}}], 4 {bypassL1}
// CHECK:         %[[N:.*]] = arith.select
// CHECK:         nvgpu.device_async_copy %{{.*}}[%{{.*}}], %[[S]][%{{.*}}], 1, %[[N]] :
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 0
// EMULATED:      call @fusion_emulated_copy_async
// EMULATED:      call @fusion_emulated_copy_async
// EMULATED:      call @fusion_emulated_commit
// EMULATED:      call @fusion_emulated_wait
// EMULATED:      call @fusion_emulated_access
func.func @k(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<160xf32>
  %most = arith.constant 20 : index
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%t)
    %j = affine.apply affine_map<(d0) -> (d0 + 128)>(%t)
    loop.copy_async 4 from %x[%i] to %s[%i] : memref<256xf32>, memref<160xf32>
    %c = arith.cmpi slt, %t, %most : index
    loop.copy_async 1 from %x[%t] to %s[%j] if %c : memref<256xf32>, memref<160xf32>
    loop.copy_commit
    loop.copy_wait 0
    %a = loop.load %s[%t] : memref<160xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<256xf32>
    loop.yield
  }
  return
}
