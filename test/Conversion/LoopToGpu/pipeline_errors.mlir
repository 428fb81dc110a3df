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
