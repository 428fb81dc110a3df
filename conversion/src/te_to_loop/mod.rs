//! From kernels and the program around them to loops and buffers.

pub mod plan_memory;
