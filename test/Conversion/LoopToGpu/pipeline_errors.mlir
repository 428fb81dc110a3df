// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-pipeline))' --verify-diagnostics

func.func @two(%x: memref<256xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %s = loop.alloc shared slots 2 : memref<64xf32>
    // expected-error @+1 {{has 3 slots, another buffer of the same loop has 2; give both the same number, by te.double_buffer}}
    %v = loop.alloc shared slots 3 : memref<96xf32>
    loop.for 8 serial {
    ^bb0(%k: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
      %a = loop.load %x[%i] : memref<256xf32> -> f32
      %j = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 + d1)>(%k, %t)
      %l = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 32 + d1)>(%k, %t)
      loop.store %a, %s[%j] : f32, memref<64xf32>
      loop.store %a, %v[%l] : f32, memref<96xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Boxes are copied ahead of a loop that runs once in each block.
func.func @again(%x: memref<4096xf16>, %y: memref<64xf16>) attributes {loop.kernel} {
  loop.for 64 thread_x {
  ^bb0(%t: index):
    loop.for 2 serial {
    ^bb0(%i: index):
      %s = loop.alloc shared slots 2 : memref<1024xf16>
      // expected-error @+1 {{runs again and again in a loop or under a condition, so that no boxes can be copied ahead of it; leave te.bulk_copy away}}
      loop.for 8 serial {
      ^bb0(%k: index):
        %zero = arith.constant 0 : index
        %row = affine.apply affine_map<(d0) -> (d0 * 8)>(%k)
        %to = affine.apply affine_map<(d0) -> ((d0 mod 2) * 512)>(%k)
        loop.copy_tensor %x[%row, %zero] of [64, 64] box [8, 64] to %s[%to] : memref<4096xf16>, memref<1024xf16>
        %from = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 512 + d1)>(%k, %t)
        %v = loop.load %s[%from] : memref<1024xf16> -> f16
        loop.store %v, %y[%t] : f16, memref<64xf16>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}
