//! The bridge to MLIR: registration, views over operations, builders, passes, and the mains of the tools.
//!
//! All `unsafe` code of the project's compiler side is in this folder, but for the call of lld (`conversion/linker`); what it gives out
//! is safe to use under one rule: an operation that has been erased is not used again.
#![allow(unsafe_code)]

mod affine;
mod attributes;
mod build;
pub(crate) mod callbacks;
mod codegen;
mod constants;
mod context;
mod diagnostics;
mod ffi;
mod ir;
mod jit;
mod llvm_types;
mod operator_attributes;
mod pass;
mod relay_types;
mod statistics;
pub(crate) mod symbols;
mod tools;
mod trace;
mod types;
mod value_map;

pub use affine::{Affine, affine_map_attr, affine_map_of, affine_results_of};
pub use attributes::*;
pub use build::{Build, computed_in};
pub use codegen::{CodegenError, Emit, Target, emit, is_elementwise, is_pure, processors, run_passes};
pub use constants::{float_of, int_of, is_splat, read_tensor, splat, write_tensor};
pub use context::{
    load_context, load_worker_context, module_copy, parse_file, parse_module, registry, source_of,
};
pub use diagnostics::with_diagnostics;
pub use ir::*;
pub use jit::{Entry, Jit, JitError, Symbol};
pub use llvm_types::*;
pub use melior::ir::Module;
pub use operator_attributes::*;
pub use pass::{
    OptionKind, OptionSpec, Options, Pass, PassError, PassRun, RunContext, Watch, register,
    register_pipeline, watch_passes,
};
pub use relay_types::*;
pub use statistics::StatisticSpec;
pub use tools::{
    lsp_server_main, lsp_server_main_with, opt_main, opt_main_with, reduce_main, register_upstream_passes,
};
pub use trace::{Span, TraceEvent, record, records, span, span_of, take_recorded};
pub use types::*;
pub use value_map::{ValueMap, none_left};
