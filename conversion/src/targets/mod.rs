//! What each target adds.

pub mod c_interface;
pub mod cpu;
pub mod parallel_calls;
mod spelled;
