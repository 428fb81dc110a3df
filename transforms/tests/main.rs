//! Rules, exact extraction, and the pages of docs/ that the sources write. One executable, which is linked with MLIR once.

mod bounds;
mod code;
mod common;
mod docs;
mod exact;
mod numbers;
mod orders;
mod pressure;
mod random_graphs;
mod rules;
