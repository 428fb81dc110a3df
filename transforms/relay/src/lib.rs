//! Passes over relay.

pub mod anf;
pub mod basic_block_form;
pub mod check_match;
pub mod cse;
pub mod dce;
pub mod defunctionalise;
pub mod defuse_ops;
pub mod effects;
pub mod eta_expand;
pub mod external;
pub mod fuse_ops;
pub mod graph_form;
pub mod infer_types;
pub mod inline;
pub mod language;
pub mod lift_lambdas;
pub mod loop_kernels;
pub mod mixed_precision;
pub mod monomorphise;
pub mod number_strings;
pub mod partial_eval;
pub mod propagate_constants;
pub mod quantize;
pub mod split_args;
pub mod winograd;
