//! The list of all passes inside a dialect.
//!
//!     relay/      passes over relay           schedule/    passes over te: schedules, their primitives, default schedules
//!     loops/      passes over loop            egraph/      one e-graph for algebra, layout and kernels; asks relay and schedule
//!
//! One pass, one file. What goes from one dialect to the next is in `fusion-conversion`.

mod attach_fp_math;

use fusion_loops as loops;
use fusion_relay as relay;
use fusion_schedule as te;

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {
    fusion_dialects::register::<fusion_egraph::RelayOptimize>();
    fusion_dialects::register::<attach_fp_math::AttachFpMath>();
    fusion_dialects::register::<loops::simplify::LoopSimplify>();
    fusion_dialects::register::<loops::transpose::LoopTranspose>();
    fusion_dialects::register::<loops::unroll::LoopUnroll>();
    fusion_dialects::register::<loops::fuse::LoopFuse>();
    fusion_dialects::register::<loops::overlap::LoopOverlap>();
    fusion_dialects::register::<loops::stream::LoopStream>();
    fusion_dialects::register::<loops::ranges::LoopValueRanges>();
    fusion_dialects::register::<loops::signs::LoopSigns>();
    fusion_dialects::register::<relay::anf::RelayToAnf>();
    fusion_dialects::register::<relay::check_match::CheckMatch>();
    fusion_dialects::register::<relay::basic_block_form::RelayToBasicBlockForm>();
    fusion_dialects::register::<relay::cse::RelayCse>();
    fusion_dialects::register::<relay::dce::RelayDce>();
    fusion_dialects::register::<relay::defunctionalise::RelayDefunctionalise>();
    fusion_dialects::register::<relay::defuse_ops::DefuseOps>();
    fusion_dialects::register::<relay::eta_expand::RelayEtaExpand>();
    fusion_dialects::register::<relay::external::annotate_target::AnnotateTarget>();
    fusion_dialects::register::<relay::external::merge_compiler_regions::MergeCompilerRegions>();
    fusion_dialects::register::<relay::external::partition_graph::PartitionGraph>();
    fusion_dialects::register::<relay::fuse_ops::FuseOps>();
    fusion_dialects::register::<relay::graph_form::RelayToGraphForm>();
    fusion_dialects::register::<relay::inline::RelayInline>();
    fusion_dialects::register::<relay::lift_lambdas::RelayLiftLambdas>();
    fusion_dialects::register::<relay::infer_types::InferTypes>();
    fusion_dialects::register::<relay::loop_kernels::LoopKernels>();
    fusion_dialects::register::<relay::mixed_precision::ToMixedPrecision>();
    fusion_dialects::register::<relay::monomorphise::Monomorphise>();
    fusion_dialects::register::<relay::number_strings::NumberStrings>();
    fusion_dialects::register::<relay::partial_eval::RelayPartialEval>();
    fusion_dialects::register::<relay::propagate_constants::PropagateConstants>();
    fusion_dialects::register::<relay::quantize::annotate::QuantizeAnnotate>();
    fusion_dialects::register::<relay::quantize::calibrate::QuantizeCalibrate>();
    fusion_dialects::register::<relay::quantize::realize::QuantizeRealize>();
    fusion_dialects::register::<relay::split_args::SplitArgs>();
    fusion_dialects::register::<relay::winograd::RelayWinograd>();
    fusion_dialects::register::<loops::vectorize::LoopVectorize>();
    fusion_dialects::register::<te::auto_schedule::TeSchedule>();
    fusion_dialects::register::<te::merge::TeMerge>();
    fusion_dialects::register::<te::pack_arguments::TePackArguments>();
}
