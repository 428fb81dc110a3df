//! Passes over loops.

pub mod unroll;
pub mod vectorize;
