//! What is compiled, against the interpreter and against plain Rust. One executable: each holds all of MLIR and LLVM.

mod ahead_of_time;
mod arena;
mod common;
mod compiled;
mod cpu_codegen;
mod definitions;
mod docs;
mod host_program;
mod kernels;
mod math;
mod programs;
mod schedules;
