//! Conversions between dialects, targets, and the ordered list of stages.

pub mod alone;
pub mod bytecode_to_llvm;
pub mod cache;
pub mod compile;
pub mod description;
pub mod kernels;
pub mod loop_to_cpu;
pub mod loop_to_gpu;
pub mod pipelines;
pub mod planning;
pub mod program;
pub mod relay_to_bytecode;
pub mod relay_to_te;
pub mod schedules;
pub mod targets;
pub mod te_to_loop;
pub mod units;

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {
    fusion_dialects::register::<relay_to_bytecode::outline::OutlineKernels>();
    fusion_dialects::register::<relay_to_te::ConvertRelayToTe>();
    fusion_dialects::register::<te_to_loop::lower::TeLower>();
    fusion_dialects::register::<te_to_loop::plan_memory::PlanMemory>();
    fusion_dialects::register::<targets::cpu::attach::AttachTarget>();
    fusion_dialects::register::<targets::c_interface::CInterface>();
    fusion_dialects::register::<targets::parallel_calls::ParallelCalls>();
    fusion_dialects::register::<targets::bf16_bits::Bf16AsBits>();
    fusion_dialects::register::<targets::bf16_integers::Bf16OfIntegers>();
    fusion_dialects::register::<loop_to_cpu::share::LoopShare>();
    fusion_dialects::register::<loop_to_cpu::outline::OutlineParallel>();
    fusion_dialects::register::<loop_to_cpu::ConvertLoopToScf>();
    fusion_dialects::register::<loop_to_cpu::math::MathApproximate>();
    fusion_dialects::register::<loop_to_gpu::equal::MergeEqual>();
    fusion_dialects::register::<loop_to_gpu::once::StoreOnce>();
    fusion_dialects::register::<loop_to_gpu::warps::BindWarps>();
    fusion_dialects::register::<loop_to_gpu::spread::LoopSpread>();
    fusion_dialects::register::<loop_to_gpu::sharing::VerifySharing>();
    fusion_dialects::register::<loop_to_gpu::pipeline::LoopPipeline>();
    fusion_dialects::register::<loop_to_gpu::barriers::InsertBarriers>();
    fusion_dialects::register::<loop_to_gpu::fragments::LoopFragments>();
    fusion_dialects::register::<targets::gpu::matrix::GpuMatrix>();
    fusion_dialects::register::<loop_to_gpu::verify::VerifyGpu>();
    fusion_dialects::register::<loop_to_gpu::math::GpuMath>();
    fusion_dialects::register::<loop_to_gpu::ConvertLoopToGpu>();
    fusion_dialects::register::<targets::gpu::emulate::Emulate>();
    fusion_dialects::register::<targets::gpu::image::GpuImage>();
    fusion_dialects::register::<targets::gpu::calls::GpuCalls>();
    fusion_dialects::register::<targets::gpu::host::GpuHost>();
    pipelines::register();
}
