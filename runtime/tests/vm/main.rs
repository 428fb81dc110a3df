//! The virtual machine on programs made by hand, with kernels written in C.

mod control;
mod errors;
mod files;
mod memory;
mod programs;
mod values;
