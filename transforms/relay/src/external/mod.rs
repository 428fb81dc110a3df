//! Operators that another code generator compiles.
//!
//! ```text
//!   relay-annotate-target            conv2d {relay.compiler = "npu"}                       who can
//!   relay-merge-compiler-regions     conv2d, relu {relay.compiler = "npu", relay.region = 0}   which together
//!   relay-partition-graph            call @npu_0;  func @npu_0 {relay.compiler = "npu"}    a function each
//! ```
//! TVM's AnnotateTarget, MergeCompilerRegions and PartitionGraph (Chen et al., "Bring Your Own Codegen to Deep Learning Compiler", 2021).

pub mod annotate_target;
pub mod merge_compiler_regions;
mod order;
pub mod partition_graph;
mod stages;

/// The attribute of operators, and of functions made of them, with the name of the code generator that compiles them.
pub const COMPILER: &str = "relay.compiler";
/// The attribute of operators with the number of their region.
pub const REGION: &str = "relay.region";
/// The attribute of functions with the symbol that their code defines.
pub const GLOBAL_SYMBOL: &str = "relay.global_symbol";
