//! Passes over relay.

pub mod fuse_ops;
pub mod winograd;
