//! From te to loop: kernels become loop nests, the program around them gets its memory.

pub mod dynamic;
pub mod lower;
pub mod plan_memory;
pub mod roundings;
