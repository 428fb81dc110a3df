//! Passes over loops.

pub mod vectorize;
