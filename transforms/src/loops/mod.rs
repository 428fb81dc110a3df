//! Passes over loops.

pub mod simplify;
pub mod unroll;
pub mod vectorize;
