//! Passes over loops.

pub mod access;
pub mod divisor;
pub mod features;
pub mod fuse;
mod held;
pub mod iteration;
pub mod masks;
pub mod overlap;
pub mod ranges;
pub mod signs;
pub mod simplify;
pub mod stream;
pub mod strided;
pub mod transpose;
pub mod unroll;
pub mod vectorize;
