//! Kernels written in C, on the emulator and through drivers that are no drivers.

#[path = "../common/mod.rs"]
mod common;
mod copies;
mod dlpack;
mod drivers;
mod emulator;
mod kernel;
mod matrix;
mod mbarriers;
mod memory;
mod profile;
mod races;
mod shuffles;
mod streams;
mod warp_groups;
