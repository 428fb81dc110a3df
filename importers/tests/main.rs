//! Models and Relay texts as they are read, and what is said of bad ones. One executable, which is linked with MLIR once.

mod attention;
mod common;
mod complex;
mod graph;
mod load;
mod loops;
mod microsoft;
mod ml;
mod narrow;
mod ops;
mod quantization;
mod random;
mod relay_text;
mod rewrite;
mod robust;
mod selection;
mod sequences;
mod stablehlo;
mod strings;
