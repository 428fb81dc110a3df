// RUN: fusion-opt %s --convert-loop-to-gpu --split-input-file --verify-diagnostics | FileCheck %s

// Groups of 8 elements, 8 groups a line: the number of the line, modulo 8, is added to that of the group without carry. The buffer is the
// first one, at a multiple of 1024 bytes; accesses of 16 bytes stay aligned.
// CHECK-LABEL: gpu.func @k_0
// CHECK-SAME:    workgroup(%[[S:.*]] : memref<512xf16, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}, %{{.*}} : memref<32xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK:         %[[I:.*]] = affine.apply
// CHECK:         %[[L:.*]] = arith.shrui %[[I]], %{{.*}} : index
// CHECK:         %[[M:.*]] = arith.andi %[[L]], %{{.*}} : index
// CHECK:         %[[AT:.*]] = arith.xori %[[I]], %[[M]] : index
// CHECK:         vector.store %{{.*}}, %[[S]][%[[AT]]] {alignment = 16 : i64}
func.func @k(%x: memref<512xf16>) attributes {loop.kernel} {
  %padded = loop.alloc shared : memref<32xf16>
  %s = loop.alloc shared swizzled : memref<512xf16>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %i = affine.apply affine_map<(d0) -> (8 * d0)>(%t)
    %v = loop.load %x[%i] : memref<512xf16> -> vector<8xf16>
    loop.store %v, %s[%i] : vector<8xf16>, memref<512xf16>
    %e = loop.load %s[%t] : memref<512xf16> -> f16
    loop.store %e, %padded[%t] : f16, memref<32xf16>
    loop.yield
  }
  return
}

// -----

func.func @k(%x: memref<512xf16>) attributes {loop.kernel} {
  // expected-error @+1 {{accesses a swizzled buffer otherwise than by up to 16 bytes that lie together, at a multiple of as many; vectorize by fewer elements, or leave te.storage_swizzle away}}
  %s = loop.alloc shared swizzled : memref<512xf16>
  loop.for 16 thread_x {
  ^bb0(%t: index):
    %i = affine.apply affine_map<(d0) -> (16 * d0)>(%t)
    %v = loop.load %x[%i] : memref<512xf16> -> vector<16xf16>
    loop.store %v, %s[%i] : vector<16xf16>, memref<512xf16>
    loop.yield
  }
  return
}
