//! Passes over loops.

pub mod simplify;
pub mod transpose;
pub mod unroll;
pub mod vectorize;
