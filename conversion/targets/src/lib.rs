//! What each target adds.

pub mod amd;
pub mod bf16_bits;
pub mod bf16_integers;
pub mod c_interface;
pub mod cpu;
pub mod gpu;
pub mod nvidia;
pub mod parallel_calls;
mod spelled;
mod spelling;
pub mod stage;
pub mod vendor;
