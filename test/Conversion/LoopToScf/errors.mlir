// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(convert-loop-to-scf))' --verify-diagnostics --split-input-file

func.func @barrier() {
  // expected-error @+1 {{'loop.barrier' op has no meaning on a CPU, where a block is one thread; do not bind loops to GPU threads}}
  loop.barrier
  return
}
