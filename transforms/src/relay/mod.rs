//! Passes over relay.

pub mod attention;
pub mod fuse_ops;
pub mod infer_types;
pub mod loop_kernels;
pub mod winograd;
