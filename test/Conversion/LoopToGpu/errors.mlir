// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-loop-to-gpu)' --verify-diagnostics --split-input-file

func.func @carried(%y: memref<4xf32>) attributes {loop.kernel} {
  %zero = arith.constant 0.0 : f32
  loop.for 4 block_x {
  ^bb0(%b: index):
    // expected-error @+1 {{'loop.for' op carries a value from thread to thread, which run at the same time}}
    %sum = loop.for 32 thread_x iter(%zero : f32) {
    ^bb0(%t: index, %before: f32):
      %next = arith.addf %before, %before : f32
      loop.yield %next : f32
    } -> f32
    loop.store %sum, %y[%b] : f32, memref<4xf32>
    loop.yield
  }
  return
}

// -----

func.func @much(%y: memref<32xf32>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    // expected-error @+1 {{'loop.alloc' op is of 80000 bytes that each thread keeps for itself, of which GPUs have 65536; compute less of it at a time, by te.compute_at a loop further in}}
    %p = loop.alloc local : memref<20000xf32>
    %a = loop.load %p[%t] : memref<20000xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<32xf32>
    loop.yield
  }
  return
}
