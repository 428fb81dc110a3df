//! Passes over relay, te and loop.
//!
//! One pass, one file; `register` lists them all. A pass changes programs inside a dialect; what goes from
//! one dialect to the next is in `fusion-conversion`.

pub mod egraph;
pub mod fp_math;
pub mod loops;
pub mod relay;
pub mod target;
pub mod te;

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {
    fusion_dialects::register::<egraph::RelayOptimize>();
    fusion_dialects::register::<fp_math::AttachFpMath>();
    fusion_dialects::register::<loops::simplify::LoopSimplify>();
    fusion_dialects::register::<loops::transpose::LoopTranspose>();
    fusion_dialects::register::<loops::unroll::LoopUnroll>();
    fusion_dialects::register::<loops::fuse::LoopFuse>();
    fusion_dialects::register::<loops::overlap::LoopOverlap>();
    fusion_dialects::register::<loops::stream::LoopStream>();
    fusion_dialects::register::<loops::ranges::LoopValueRanges>();
    fusion_dialects::register::<loops::signs::LoopSigns>();
    fusion_dialects::register::<relay::anf::RelayToAnf>();
    fusion_dialects::register::<relay::attention::RelayAttention>();
    fusion_dialects::register::<relay::check_match::CheckMatch>();
    fusion_dialects::register::<relay::basic_block_form::RelayToBasicBlockForm>();
    fusion_dialects::register::<relay::cse::RelayCse>();
    fusion_dialects::register::<relay::dce::RelayDce>();
    fusion_dialects::register::<relay::defunctionalise::RelayDefunctionalise>();
    fusion_dialects::register::<relay::eta_expand::RelayEtaExpand>();
    fusion_dialects::register::<relay::fuse_ops::FuseOps>();
    fusion_dialects::register::<relay::graph_form::RelayToGraphForm>();
    fusion_dialects::register::<relay::inline::RelayInline>();
    fusion_dialects::register::<relay::lift_lambdas::RelayLiftLambdas>();
    fusion_dialects::register::<relay::infer_types::InferTypes>();
    fusion_dialects::register::<relay::loop_kernels::LoopKernels>();
    fusion_dialects::register::<relay::monomorphise::Monomorphise>();
    fusion_dialects::register::<relay::partial_eval::RelayPartialEval>();
    fusion_dialects::register::<relay::propagate_constants::PropagateConstants>();
    fusion_dialects::register::<relay::winograd::RelayWinograd>();
    fusion_dialects::register::<loops::vectorize::LoopVectorize>();
    fusion_dialects::register::<te::auto_schedule::TeSchedule>();
    fusion_dialects::register::<te::merge::TeMerge>();
    fusion_dialects::register::<te::pack_arguments::TePackArguments>();
}
