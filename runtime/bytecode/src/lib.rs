//! Programs as instructions over registers.
//!
//! ```text
//!   relay  --relay_to_bytecode-->  Program  --runs in-->  the virtual machine
//!                                           --bytecode_to_llvm-->  native code
//! ```
//! Tensors are computed by kernels, which the compiler made of the program's operators; everything around them (calls, data,
//! closures, cells, control flow) is an instruction. Both ways of running follow the same rules of ownership
//! ([`Instruction`]), so neither needs a garbage collector: values are counted and freed when the last owner lets go.

mod check;
mod check_inputs;
mod file;
mod instruction;
mod match_types;
mod operands;
mod parse;
mod program;
pub mod ranges;
mod scalar;
mod shapes;
mod tensors;
mod text;
mod value_type;

pub use check::{CheckError, MOST_REGISTERS};
pub use check_inputs::{InputError, check_inputs};
pub use file::{FileError, MAGIC, ProgramFile, VERSION};
pub use instruction::{FunctionId, Instruction, Label, Place, Register};
pub use match_types::{TypeMismatch, match_types};
pub use operands::Use;
pub use parse::TextError;
pub use program::{Constructor, DataType, Function, Kernel, Program};
pub use ranges::Range;
pub use scalar::{Scalar, ScalarError};
pub use shapes::{Extent, Said, Shapes, Step};
pub use text::Shown;
pub use value_type::ValueType;
