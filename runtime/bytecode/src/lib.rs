//! Programs as instructions over registers.
//!
//! ```text
//!   relay  --relay_to_bytecode-->  Program  --runs in-->  the virtual machine
//!                                           --bytecode_to_llvm-->  native code
//! ```
//! Tensors are computed by kernels, which the compiler made of the program's operators; everything around them (calls, data,
//! closures, cells, control flow) is an instruction. Both ways of running follow the same rules of ownership
//! ([`Instruction`]), so neither needs a garbage collector: values are counted and freed when the last owner lets go.

mod instruction;
mod program;
mod tensors;

pub use instruction::{Instruction, Label, Register};
pub use program::{Constructor, DataType, Function, FunctionId, Kernel, Place, Program, ValueType};
