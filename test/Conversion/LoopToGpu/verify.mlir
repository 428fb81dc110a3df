// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-verify-gpu{threads=256 shared-bytes=1024}))' --verify-diagnostics --split-input-file

func.func @threads() attributes {loop.kernel} {
  loop.for 16 thread_y {
  ^bb0(%i: index):
    // expected-error @+1 {{'loop.for' op needs blocks of 512 threads (32 x 16 x 1), the target has at most 256; split the loops bound to threads}}
    loop.for 32 thread_x {
    ^bb0(%j: index):
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

func.func @memory(%y: memref<32xf32>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    // expected-error @+1 {{shares 1040 bytes in each block, the target has at most 1024; use smaller tiles}}
    %s = loop.alloc shared : memref<257xf32>
    %a = loop.load %s[%t] : memref<257xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// -----

func.func @blocks() attributes {loop.kernel} {
  // expected-error @+1 {{'loop.for' op needs 1 x 65536 x 1 blocks, a GPU has at most 2147483647 x 65535 x 65535; bind the longest loop to block_x, or split it}}
  loop.for 65536 block_y {
  ^bb0(%b: index):
    loop.yield
  }
  return
}

// -----

func.func @guarded(%c: i1) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    loop.guard %c {
      // expected-error @+1 {{'loop.barrier' op stands under a condition, where not all threads of the block come: they would wait for ever}}
      loop.barrier
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

func.func @some_wait() attributes {loop.kernel} {
  loop.for 4 block_x {
  ^bb0(%b: index):
    loop.for 32 thread_x {
    ^bb0(%t: index):
      loop.yield
    }
    loop.for 8 thread_x {
    ^bb0(%t: index):
      // expected-error @+1 {{'loop.barrier' op stands in a loop of 8 of 32 threads; the others would never come}}
      loop.barrier
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

func.func @race(%x: memref<32xf32>, %y: memref<1xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{'loop.store' op writes what differs from thread to thread to one place; bind no loop to threads that the place does not depend on}}
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    loop.store %a, %y[%zero] : f32, memref<1xf32>
    loop.yield
  }
  return
}

// -----

// All of this is fine: threads write the same, one of them writes, or each to its own place.
func.func @fine(%x: memref<32xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<32xf32>
    loop.store %one, %x[%zero] : f32, memref<32xf32>
    loop.barrier
    loop.yield
  }
  return
}

// -----

func.func @early(%x: memref<32xf32>, %y: memref<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<32xf32>
  loop.for 32 thread_x {
  ^bb0(%t: index):
    loop.copy_async 1 from %x[%t] to %s[%t] : memref<32xf32>, memref<32xf32>
    loop.copy_commit
    // expected-error @+1 {{'loop.load' op reads what an asynchronous copy writes, for which nothing waits; put loop.copy_wait or loop.mbarrier_wait before it}}
    %a = loop.load %s[%t] : memref<32xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}

// -----

func.func @k(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %y: memref<256xf32>) attributes {loop.kernel} {
  loop.for 64 thread_x {
  ^bb0(%t: index):
    // expected-error @+1 {{is of warps of 32 threads, which thread_x numbers, but blocks have 64 along x; bind a loop of 32 to it}}
    %d = loop.multiply_matrix mma_m16n8k16_f16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
    %i = affine.apply affine_map<(d0) -> (4 * d0)>(%t)
    loop.store %d, %y[%i] : vector<4xf32>, memref<256xf32>
    loop.yield
  }
  return
}

// -----

func.func @k(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %y: memref<128xf32>, %some: i1) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    loop.guard %some {
      // expected-error @+1 {{stands under a condition, where not all threads of a warp may come}}
      %d = loop.multiply_matrix mma_m16n8k16_f16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
      %i = affine.apply affine_map<(d0) -> (4 * d0)>(%t)
      loop.store %d, %y[%i] : vector<4xf32>, memref<128xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

func.func @early(%x: memref<4096xf16>, %c: vector<32xf32>) attributes {loop.kernel} {
  %s = loop.alloc shared swizzled : memref<4096xf16>
  loop.for 128 thread_x {
  ^bb0(%t: index):
    %i = affine.apply affine_map<(d0) -> (8 * d0)>(%t)
    loop.copy_async 8 from %x[%i] to %s[%i] : memref<4096xf16>, memref<4096xf16>
    loop.copy_commit
    %zero = arith.constant 0 : index
    // expected-error @+1 {{'loop.multiply_shared' op reads what an asynchronous copy writes, for which nothing waits; put loop.copy_wait or loop.mbarrier_wait before it}}
    %d = loop.multiply_shared wgmma_m64n64k64_f16 %s[%zero], %s[%zero] apart %zero, %c : memref<4096xf16>, memref<4096xf16>, vector<32xf32>
    loop.yield
  }
  return
}

// -----

func.func @box(%x: memref<4096xf16>, %y: memref<64xf16>) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<512xf16>
  loop.for 64 thread_x {
  ^bb0(%t: index):
    %zero = arith.constant 0 : index
    // expected-error @+1 {{'loop.copy_tensor' op has no mbarrier that tells of it; have its buffer take turns in a loop, by te.double_buffer}}
    loop.copy_tensor %x[%zero, %zero] of [64, 64] box [8, 64] to %s[%zero] : memref<4096xf16>, memref<512xf16>
    loop.yield
  }
  return
}
