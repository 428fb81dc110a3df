//! Extraction: which candidate computes each class, and which classes are stored. Together these are the kernels.

pub mod arrangement;
mod behind;
pub mod bound;
mod class_set;
pub mod code;
pub mod cost;
mod edits;
pub mod exact;
mod facts;
pub mod halved;
mod horizontal;
mod joining;
pub mod kernel;
pub mod looped;
mod moves;
pub mod occupancy;
pub mod paired;
mod pieces;
pub mod plan;
pub mod pressure;
pub mod rates;
pub mod scattered;
pub mod search;
pub mod space;
pub mod state;
pub mod tiles;
mod turned;
