//! Numbers while rules are applied: exact constants, and sampled values that tell when a rule was wrong.

pub mod admission;
pub mod contradiction;
pub mod dyadic;
mod effects;
pub mod folding;
pub mod roundings;
pub mod sample;
