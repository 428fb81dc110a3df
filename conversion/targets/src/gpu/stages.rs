//! The stages of kernels for a GPU, from loops on.

use crate::stage::{Stage, stage};

/// On loops for a GPU: as for a processor, but that loops bound to threads stay; then functions of the GPU.
pub const GPU_LOOP: &[Stage] = &[
    stage("loop-verify-sharing", "builtin.module(func.func(loop-verify-sharing))"),
    stage("loop-bind-warps", "builtin.module(func.func(loop-bind-warps))"),
    stage("loop-spread", "builtin.module(func.func(loop-spread))"),
    stage("loop-simplify", "builtin.module(func.func(canonicalize,cse,loop-simplify))"),
    stage("loop-vectorize", "builtin.module(func.func(loop-vectorize,canonicalize,cse))"),
    stage("loop-unroll", "builtin.module(func.func(loop-unroll,canonicalize,cse))"),
    stage("loop-clean", "builtin.module(func.func(loop-simplify,canonicalize,cse,loop-simplify))"),
    stage("loop-merge-equal", "builtin.module(func.func(loop-merge-equal,canonicalize,cse))"),
    stage("loop-value-ranges", "builtin.module(func.func(loop-value-ranges,loop-signs))"),
    stage("loop-fragments", "builtin.module(func.func(loop-fragments))"),
    stage("loop-store-once", "builtin.module(func.func(loop-store-once))"),
    stage("loop-pipeline", "builtin.module(func.func(loop-pipeline,loop-unroll,canonicalize,cse))"),
    stage("loop-insert-barriers", "builtin.module(func.func(loop-insert-barriers))"),
    stage("loop-verify-gpu", "builtin.module(func.func(loop-verify-gpu))"),
    stage("math-approximate", "builtin.module(func.func(math-approximate{doubles=true exp2=true}))"),
    stage("gpu-math", "builtin.module(func.func(gpu-math))"),
    stage("convert-loop-to-gpu", "builtin.module(convert-loop-to-gpu,gpu.module(canonicalize,cse))"),
];

/// From functions of a GPU, in LLVM by its vendor's stages, to bytes.
pub const GPU_IMAGE: &[Stage] = &[stage("fusion-gpu-image", "builtin.module(fusion-gpu-image)")];

/// From functions of a GPU to functions of the host.
pub const GPU_EMULATED: &[Stage] = &[stage("gpu-emulate", "builtin.module(gpu-emulate)")];
