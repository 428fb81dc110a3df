//! The ordered list of stages, and what runs it: kernels side by side, and kept on disk.
//!
//!     relay_to_te/    te_to_loop/    loop_to_cpu/    loop_to_gpu/      conversions, a crate each, which know the dialects they go between
//!     targets/        processors and GPUs: from upstream's dialects to code; what a library shows to C
//!     programs/       programs of the whole language: relay to bytecode, bytecode to LLVM

pub mod alone;
mod block;
pub mod cache;
pub mod compile;
pub mod description;
pub mod error;
mod external;
pub mod features;
pub mod kernels;
pub mod pipelines;
pub mod planning;
pub mod program;
pub mod runner;
pub mod schedules;
pub mod tiled;
pub mod tuned;
pub mod units;

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {
    fusion_dialects::register::<fusion_programs::relay_to_bytecode::outline::OutlineKernels>();
    fusion_dialects::register::<fusion_relay_to_te::ConvertRelayToTe>();
    fusion_dialects::register::<fusion_te_to_loop::lower::TeLower>();
    fusion_dialects::register::<fusion_te_to_loop::plan_memory::PlanMemory>();
    fusion_dialects::register::<fusion_targets::cpu::attach::AttachTarget>();
    fusion_dialects::register::<fusion_targets::c_interface::CInterface>();
    fusion_dialects::register::<fusion_targets::parallel_calls::ParallelCalls>();
    fusion_dialects::register::<fusion_targets::bf16_bits::Bf16AsBits>();
    fusion_dialects::register::<fusion_targets::bf16_integers::Bf16OfIntegers>();
    fusion_dialects::register::<fusion_loop_to_cpu::share::LoopShare>();
    fusion_dialects::register::<fusion_loop_to_cpu::outline::OutlineParallel>();
    fusion_dialects::register::<fusion_loop_to_cpu::ConvertLoopToScf>();
    fusion_dialects::register::<fusion_loop_to_cpu::math::MathApproximate>();
    fusion_dialects::register::<fusion_loop_to_gpu::equal::MergeEqual>();
    fusion_dialects::register::<fusion_loop_to_gpu::once::StoreOnce>();
    fusion_dialects::register::<fusion_loop_to_gpu::warps::BindWarps>();
    fusion_dialects::register::<fusion_loop_to_gpu::spread::LoopSpread>();
    fusion_dialects::register::<fusion_loop_to_gpu::sharing::VerifySharing>();
    fusion_dialects::register::<fusion_loop_to_gpu::pipeline::LoopPipeline>();
    fusion_dialects::register::<fusion_loop_to_gpu::barriers::InsertBarriers>();
    fusion_dialects::register::<fusion_loop_to_gpu::fragments::LoopFragments>();
    fusion_dialects::register::<fusion_targets::gpu::matrix::GpuMatrix>();
    fusion_dialects::register::<fusion_loop_to_gpu::verify::VerifyGpu>();
    fusion_dialects::register::<fusion_loop_to_gpu::math::GpuMath>();
    fusion_dialects::register::<fusion_loop_to_gpu::ConvertLoopToGpu>();
    fusion_dialects::register::<fusion_targets::gpu::emulate::Emulate>();
    fusion_dialects::register::<fusion_targets::gpu::image::GpuImage>();
    fusion_dialects::register::<fusion_targets::gpu::calls::GpuCalls>();
    fusion_dialects::register::<fusion_targets::gpu::host::GpuHost>();
    pipelines::register();
}
