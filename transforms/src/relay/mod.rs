//! Passes over relay.

pub mod attention;
pub mod check_match;
pub mod fuse_ops;
pub mod infer_types;
pub mod loop_kernels;
pub mod monomorphise;
pub mod winograd;
