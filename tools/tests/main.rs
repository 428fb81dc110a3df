//! The programs and the driver as their users meet them. One executable: each holds all of MLIR and LLVM.

mod bisect;
mod cli;
mod common;
mod compile;
mod damaged;
mod executors;
mod explain;
mod gpu;
mod gpu_ahead;
mod gpu_boxes;
mod gpu_kernels;
mod gpu_matrix;
mod gpu_models;
mod gpu_networks;
mod gpu_reports;
mod gpu_schedules;
mod gpu_warps;
mod language;
mod leaks;
mod onnx_programs;
mod open_extents;
mod profile;
mod quantized_networks;
mod repeated_constants;
mod schedules;
mod validate;
