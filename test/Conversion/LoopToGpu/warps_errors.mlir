// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-bind-warps{warp=32}))' --split-input-file --verify-diagnostics

func.func @k(%y: memref<192xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 4 warp {
  ^bb0(%w: index):
    // expected-error @+1 {{'loop.for' op of kernel @k binds 48 iterations to the lanes of a warp, which has 32 threads; split the loop by 32}}
    loop.for 48 lane {
    ^bb0(%l: index):
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 48 + d1)>(%w, %l)
      loop.store %zero, %y[%i] : f32, memref<192xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

func.func @k(%x: memref<64xf32>, %y: memref<4xf32>) attributes {loop.kernel} {
  loop.for 4 warp {
  ^bb0(%w: index):
    %l = loop.thread_index 16 lane
    %i = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%w, %l)
    %a = loop.load %x[%i] : memref<64xf32> -> f32
    %scratch = loop.alloc shared : memref<32xf32>
    // expected-error @+1 {{'loop.all_reduce' op of kernel @k shares a reduction among 16 lanes, but all 32 threads of a warp combine what they have; split the reduction by 32}}
    %s = loop.all_reduce 16 lane(%a : f32) by(%scratch : memref<32xf32>) {
    ^bb0(%p: f32, %q: f32):
      %m = arith.addf %p, %q : f32
      loop.yield %m : f32
    } -> f32
    loop.store %s, %y[%w] : f32, memref<4xf32>
    loop.yield
  }
  return
}

// -----

func.func @k(%y: memref<128xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 2 block_x {
  ^bb0(%b: index):
    loop.for 4 warp {
    ^bb0(%w: index):
      loop.for 32 lane {
      ^bb0(%l: index):
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%w, %l)
        loop.store %zero, %y[%i] : f32, memref<128xf32>
        loop.yield
      }
      loop.yield
    }
    // expected-error @+1 {{'loop.for' op of kernel @k binds 128 iterations to thread_x where other loops of the same blocks are bound to warps and lanes, so that x is 32 long; bind it to warp and lane too}}
    loop.for 128 thread_x {
    ^bb0(%t: index):
      loop.store %zero, %y[%t] : f32, memref<128xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

func.func @k(%x: memref<24xf32>, %y: memref<24xf32>) attributes {loop.kernel} {
  loop.for 24 lane {
  ^bb0(%l: index):
    %s = loop.alloc shared : memref<24xf32>
    %a = loop.load %x[%l] : memref<24xf32> -> f32
    // expected-error @+1 {{'loop.store' op of kernel @k fills shared memory that is read in the same loop over 24 of the 32 lanes of a warp, where not all threads come to the barrier between the two; compute the stage at a loop outside of the lanes, or bind a loop of 32 iterations to them}}
    loop.store %a, %s[%l] : f32, memref<24xf32>
    %m = affine.apply affine_map<(d0) -> (-d0 + 23)>(%l)
    %b = loop.load %s[%m] : memref<24xf32> -> f32
    loop.store %b, %y[%l] : f32, memref<24xf32>
    loop.yield
  }
  return
}
