// RUN: fusion-opt %s --convert-loop-to-gpu --split-input-file --verify-diagnostics | FileCheck %s

// A map of f16 is of argument 0, elements of 2 bytes, 2 axes, swizzled; extents, distances in bytes and the box go from the last axis on.
// Copies of one tensor in boxes of one size share it.
// CHECK:       gpu.func @k_0(%{{.*}}: memref<1280xf16> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64})
// CHECK-SAME:    fusion.tensor_maps = 1
// CHECK:         loop.copy_tensor {{.*}} {map = 0 : i64}
// CHECK:         loop.copy_tensor {{.*}} {map = 0 : i64}
// CHECK:       func.func private @k_launch_0(memref<1280xf16>)
// CHECK-SAME:    maps = array<i64: 0, 2, 2, 1, 64, 20, 0, 0, 0, 2, 128, 0, 0, 0, 64, 8, 0, 0, 0>
func.func @k(%x: memref<1280xf16>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %zero = arith.constant 0 : index
    %next = arith.constant 512 : index
    %s = loop.alloc shared swizzled : memref<1024xf16>
    %f = loop.alloc shared : memref<1xi64>
    loop.copy_tensor %x[%zero, %zero] of [20, 64] box [8, 64] to %s[%zero] mbarriers %f[%zero] : memref<1280xf16>, memref<1024xf16>, memref<1xi64>
    loop.copy_tensor %x[%t, %zero] of [20, 64] box [8, 64] to %s[%next] mbarriers %f[%zero] : memref<1280xf16>, memref<1024xf16>, memref<1xi64>
    loop.yield
  }
  return
}

// -----

func.func @k(%x: memref<1280xf16>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %zero = arith.constant 0 : index
    %s = loop.alloc shared : memref<1024xf16>
    %f = loop.alloc shared : memref<1xi64>
    // expected-error @+1 {{copies a box to a place that is no multiple of 128 bytes in a buffer of 2048; make the box larger, or leave te.bulk_copy away}}
    loop.copy_tensor %x[%zero, %zero] of [20, 64] box [8, 64] to %s[%t] mbarriers %f[%zero] : memref<1280xf16>, memref<1024xf16>, memref<1xi64>
    loop.yield
  }
  return
}

// -----

func.func @k(%x: memref<1280xf16>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %zero = arith.constant 0 : index
    %own = loop.alloc shared : memref<1280xf16>
    %s = loop.alloc shared : memref<1024xf16>
    %f = loop.alloc shared : memref<1xi64>
    // expected-error @+1 {{copies boxes of what is no argument of the kernel; leave te.bulk_copy away}}
    loop.copy_tensor %own[%zero, %zero] of [20, 64] box [8, 64] to %s[%zero] mbarriers %f[%zero] : memref<1280xf16>, memref<1024xf16>, memref<1xi64>
    loop.yield
  }
  return
}
