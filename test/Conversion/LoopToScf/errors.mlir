// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' --verify-diagnostics --split-input-file

func.func @barrier() {
  // expected-error @+1 {{'loop.barrier' op has no meaning on a CPU, where a block is one thread; do not bind loops to GPU threads}}
  loop.barrier
  return
}

// -----

func.func @bound() {
  // expected-error @+1 {{'loop.for' op is bound to the blocks or threads of a GPU, which a CPU has not; use te.parallel, te.vectorize or te.unroll}}
  loop.for 4 block_x {
  ^bb0(%i: index):
    loop.yield
  }
  return
}

// -----

func.func @shared() {
  // expected-error @+1 {{'loop.alloc' op is in memory that a block of threads shares, which a CPU has not; use global or local memory}}
  %a = loop.alloc shared : memref<8xf32>
  return
}

// -----

func.func @fragment() {
  // expected-error @+1 {{'loop.alloc' op is in fragments, which a CPU has not; use global or local memory}}
  %a = loop.alloc fragment : memref<8xf32>
  return
}
