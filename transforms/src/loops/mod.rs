//! Passes over loops.

pub mod divisor;
pub mod iteration;
pub mod masks;
pub mod ranges;
pub mod simplify;
pub mod stream;
pub mod strided;
pub mod transpose;
pub mod unroll;
pub mod vectorize;
