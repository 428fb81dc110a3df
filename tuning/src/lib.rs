//! Searches for schedules by measuring them (Chen et al., "Learning to Optimize Tensor Programs", 2018; Chen et al., "TVM", 2018, section 5).
//!
//! ```text
//!     model  ->  kernels that differ  ->  points of each one's space          (points)
//!                      |                        |   proposed by a search      (search: annealing, evolution, random, grid)
//!                      |                        |   that asks a cost model    (cost_model: trees, estimate)
//!                      |                   a batch is compiled and timed      (measure: in processes of their own)
//!                      |                        |
//!                      +------ the log: a line a measurement  ------  the best few are timed again, in turn with the default
//! ```
//!
//! The kinds of schedules say what there is to choose ([`fusion_schedule::auto_schedule::KernelSpace`]). A search only sees times that stand in the log, so that
//! the log and the seed give the same search again, step by step.

pub mod cost_model;
pub mod kernel;
pub mod log;
pub mod measure;
pub mod points;
pub mod search;
pub mod tuner;

use fusion::driver::CompileOptions;

/// How logs name the processor that a model is compiled for.
pub fn target_of(options: &CompileOptions) -> String {
    options.target.processor().description.processor.clone()
}
