// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-verify-gpu{threads=256 shared-bytes=1024}))' --verify-diagnostics --split-input-file

func.func @threads() attributes {loop.kernel} {
  // expected-error @+1 {{'loop.for' op needs blocks of 512 threads (32 x 16 x 1), the target has at most 256; split the loops bound to threads}}
  loop.for 16 thread_y {
  ^bb0(%i: index):
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
  // expected-error @+1 {{'loop.for' op shares 1040 bytes in each block, the target has at most 1024; use smaller tiles}}
  loop.for 32 thread_x {
  ^bb0(%t: index):
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
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %a = loop.load %x[%t] : memref<32xf32> -> f32
    // expected-error @+1 {{'loop.store' op writes what differs from thread to thread to one place; bind no loop to threads that the place does not depend on}}
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
    // expected-error @+1 {{'loop.load' op reads what an asynchronous copy writes, for which nothing waits; put loop.copy_wait before it}}
    %a = loop.load %s[%t] : memref<32xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}
