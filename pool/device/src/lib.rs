//! A device of a pool.
//!
//! ```text
//!     command   what the command line says           serve    connects to the tracker, and again when that is lost
//!     session   one connection: jobs, objects        runner   a job in a process of its own, with a time limit
//!     child     that process: limits, a loader of shared libraries, timing
//! ```
//!
//! There is no MLIR here and no other part of the compiler: libraries come as bytes, and are loaded from memory, so that the process that runs
//! them needs no files, and a device that is linked statically needs no C library.

pub mod child;
pub mod command;
mod frames;
pub mod runner;
pub mod serve;
mod session;

pub use serve::{DeviceError, Options, serve};
