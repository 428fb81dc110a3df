//! What tests with random calls share.
#![allow(dead_code)]

pub mod random;
pub mod threads;

pub use random::{Random, attribute};
