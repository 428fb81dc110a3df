//! A pool as a whole, on this machine: devices that fail in all ways, messages that are none, who is let in, and what a job may do.

mod child;
mod common;
mod entry;
mod four;
mod fuzz;
