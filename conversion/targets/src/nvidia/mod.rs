//! NVIDIA's GPUs: code is PTX, which the driver compiles for the GPU it finds, or a cubin where `ptxas` is installed.
//!
//! A description in `descriptions/` and its line in `described` are all that a GPU takes: `processor` is what
//! LLVM calls it, which makes PTX of the oldest version that has this GPU, for the oldest driver.

use super::vendor::{Image, Vendor};
use crate::stage::Stage;
use fusion_dialects::Emit;

/// The row of facts.
pub const VENDOR: Vendor = Vendor {
    name: "nvidia",
    device: "cuda",
    number: 1,
    triple: "nvptx64-nvidia-cuda",
    features: "",
    emit: Emit::Assembly,
    image: Image::Text,
    stages: STAGES,
    calls: "",
    settings: |_| String::new(),
    described: &[
        include_str!("descriptions/sm_80.toml"),
        include_str!("descriptions/sm_89.toml"),
        include_str!("descriptions/sm_90a.toml"),
        include_str!("descriptions/sm_100a.toml"),
        include_str!("descriptions/sm_120.toml"),
    ],
};

const STAGES: &[Stage] = &[Stage {
    name: "fusion-nvidia",
    pipeline: "builtin.module(gpu.module(\
               gpu-matrix,convert-vector-to-scf,lower-affine,convert-nvgpu-to-nvvm,convert-scf-to-cf,expand-strided-metadata,lower-affine,\
               convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1},convert-vector-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,\
               convert-ub-to-llvm,convert-nvvm-to-llvm,canonicalize,cse,convert-ub-to-llvm,\
               reconcile-unrealized-casts))",
}];
