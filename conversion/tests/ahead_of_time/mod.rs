//! Programs compiled ahead of time: what each instruction does, what errors say, that memory is freed and the stack does not grow.

mod common;
mod errors;
mod interface;
mod memory;
mod random;
mod scalars;
mod shapes;
mod strings;
mod values;
