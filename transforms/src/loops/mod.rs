//! Passes over loop.

pub mod unroll;
