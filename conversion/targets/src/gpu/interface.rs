//! What a library for a GPU has in place of `fusion_run`: a description of its program, with which the run time runs it.
//!
//! ```text
//!   llvm.func @main(ptr x (inputs + outputs + 2))     =>     @fusion_gpu_program = {device, inputs, outputs, bytes of each, ...}
//!                                                            llvm.func internal @fusion_main_of(%pointers) { call @fusion_main(...) }
//! ```
//!
//! The structure is `fusion_gpu_program` of `runtime/gpu/gpu.h`; `fusion_run` is in the run time.

use super::globals::{by_list, constant, number, structure};
use super::host::TENSOR_BYTES;
use crate::spelled::Spelled;
use fusion_dialects::{Op, OpExt, PassError};

/// The structure, which the run time looks for.
const PROGRAM: &str = "fusion_gpu_program";
/// `struct fusion_gpu_program`.
const TYPE: &str = "!llvm.struct<(i32, i32, i32, ptr, ptr, ptr, i64, i64, ptr, ptr)>";

/// What the run time must know of a program.
pub struct Program<'a> {
    /// The function, which takes a pointer for each tensor, the constants and the workspace.
    pub function: &'a str,
    /// What runs its kernels.
    pub device: u64,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// The symbol of the constants.
    pub constants: &'a str,
    /// Bytes of those.
    pub constants_bytes: usize,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
}

impl Program<'_> {
    /// Writes the structure before a function, the program's.
    pub fn write<'c>(&self, lib: &Spelled<'c>) -> Result<(), PassError<'c>> {
        let main: Op = lib.owner;
        let sizes = main.ints(TENSOR_BYTES).unwrap_or_default();
        if sizes.len() != self.inputs + self.outputs {
            return Err(PassError::at(main, format!("has no {TENSOR_BYTES}, which fusion-gpu-host sets")));
        }
        let (inputs, outputs) = sizes.split_at(self.inputs);
        list(lib, "fusion_gpu_input_bytes", inputs)?;
        list(lib, "fusion_gpu_output_bytes", outputs)?;
        let function = by_list(lib, self.function, self.inputs + self.outputs + 2)?;
        structure(lib, (PROGRAM, "external"), TYPE, |build| {
            Ok(vec![
                number(lib, build, "i32", self.device)?,
                number(lib, build, "i32", self.inputs as u64)?,
                number(lib, build, "i32", self.outputs as u64)?,
                lib.address(build, "fusion_gpu_input_bytes"),
                lib.address(build, "fusion_gpu_output_bytes"),
                lib.address(build, self.constants),
                number(lib, build, "i64", self.constants_bytes as u64)?,
                number(lib, build, "i64", self.workspace_bytes)?,
                lib.address(build, &function),
                build.value("llvm.mlir.zero", &[], lib.pointer, &[]),
            ])
        })
    }
}

/// A constant list of numbers of 64 bits.
pub(super) fn list<'c>(lib: &Spelled<'c>, name: &str, numbers: &[i64]) -> Result<(), PassError<'c>> {
    let text = numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let (count, text) = (numbers.len().max(1), if numbers.is_empty() { "0".to_owned() } else { text });
    let value = lib.attribute(&format!("dense<[{text}]> : tensor<{count}xi64>"))?;
    constant(lib, name, lib.ty(&format!("!llvm.array<{count} x i64>"))?, value)
}
