//! AMD's GPUs: code is an object of the GPU (hsaco), linked by lld.
//!
//! A description in `descriptions/` is all that a GPU takes: `processor` is what LLVM calls it.

use super::gpu::{Image, Vendor};
use crate::pipelines::Stage;
use fusion_dialects::Emit;

/// The row of facts.
pub const VENDOR: Vendor = Vendor {
    name: "amd",
    device: "hip",
    number: 2,
    triple: "amdgcn-amd-amdhsa",
    features: "",
    emit: Emit::Object,
    image: Image::Linked,
    stages: STAGES,
    described: &[
        include_str!("descriptions/gfx90a.toml"),
        include_str!("descriptions/gfx942.toml"),
        include_str!("descriptions/gfx1100.toml"),
    ],
};

const STAGES: &[Stage] = &[Stage {
    name: "fusion-amd",
    pipeline: "builtin.module(gpu.module(\
               gpu-matrix,convert-vector-to-scf,lower-affine,convert-amdgpu-to-rocdl{chipset=CHIP},convert-scf-to-cf,expand-strided-metadata,\
               lower-affine,convert-gpu-to-rocdl{chipset=CHIP runtime=HIP use-bare-ptr-memref-call-conv=1},\
               convert-vector-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,\
               canonicalize,cse,reconcile-unrealized-casts))",
}];
