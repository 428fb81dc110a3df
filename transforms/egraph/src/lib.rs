//! `relay-optimize`: one e-graph chooses algebra, layout and fusion together.
//!
//! ```text
//!     block --read--> e-graph --rules--> e-graph --snapshot--> space --search--> plan --write--> block of kernel calls
//! ```
//!
//! The e-graph (Willsey et al., "egg: Fast and Extensible Equality Saturation", 2021) holds all forms of a block that rules can reach.
//! A *plan* says for each class which of its nodes computes it and whether its value is stored: the stored classes are the kernels, and
//! each computes the lazy classes it reaches. So algebra and kernel boundaries have one cost, that of the program as it would run. Why
//! boundaries are part of the plan and not of the graph is in docs/explanation/egraph.md.
//!
//! A block with its operations of control flow is a graph of its own; so is each block inside them.

pub mod analysis;
pub mod applications;
pub mod bisect;
mod bits;
mod bodies;
pub mod check;
pub mod contents;
mod data;
mod elements;
pub mod extract;
mod fold;
pub mod language;
mod large_constants;
pub mod layouts;
mod limits;
pub mod numbers;
pub mod orders;
mod pass;
mod planned;
pub mod proof;
mod read;
pub mod remarks;
pub mod rule;
pub mod rules;
pub mod saturate;
pub mod search_rule;
mod settings;
pub mod sides;
mod signs;
pub mod unrolling;
mod write;

pub use pass::RelayOptimize;
pub use settings::Strategy;
