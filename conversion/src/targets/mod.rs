//! What each target adds.

pub mod c_interface;
pub mod parallel_calls;
mod spelled;
