//! What a program consists of.

use crate::{FunctionId, Instruction, Place, Range, Shapes, ValueType};
use fusion_operators::{Tensor, TensorType};
use serde::{Deserialize, Serialize};

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Data types; values of them have the tags of their constructors.
    pub data: Vec<DataType>,
    /// Strings that constants and kernels know by their places here; each stands once.
    pub strings: Vec<String>,
    /// Tensors that are known.
    pub constants: Vec<Tensor>,
    /// What computes tensors.
    pub kernels: Vec<Kernel>,
    /// Functions.
    pub functions: Vec<Function>,
    /// The one that the program starts with. It captures nothing.
    pub entry: FunctionId,
    /// Names and types of what it takes.
    pub inputs: Vec<(String, ValueType)>,
    /// Which sizes extents of what it takes may have, by their names.
    pub ranges: Vec<(String, Range)>,
    /// The type of what it gives.
    pub output: ValueType,
}

/// A data type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataType {
    /// Its name.
    pub name: String,
    /// Its constructors; the place of one is its tag.
    pub constructors: Vec<Constructor>,
}

impl DataType {
    /// How many types it is applied to, as far as its fields say.
    pub fn parameters(&self) -> usize {
        let mut left: Vec<&ValueType> = self.constructors.iter().flat_map(|c| &c.fields).collect();
        let mut most = 0;
        while let Some(ty) = left.pop() {
            match ty {
                ValueType::Parameter(place) => most = most.max(*place as usize + 1),
                ValueType::Tuple(parts) | ValueType::Data(_, parts) => left.extend(parts),
                ValueType::Cell(held) => left.push(held),
                ValueType::Tensor(_) | ValueType::Function => {}
            }
        }
        most
    }
}

/// A constructor of a data type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constructor {
    /// Its name.
    pub name: String,
    /// Types of its fields; a [`ValueType::Parameter`] in them is one of the data type.
    pub fields: Vec<ValueType>,
}

/// Native code that computes tensors of known shapes: `void symbol(const void *const *inputs, void *const *outputs,
/// void *workspace)`, with the alignments of `docs/reference/abi.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// The symbol in the program's library.
    pub symbol: String,
    /// What it takes.
    pub inputs: Vec<TensorType>,
    /// What it gives.
    pub outputs: Vec<TensorType>,
    /// Bytes of workspace it needs.
    pub workspace_bytes: u64,
    /// Where types have dynamic extents: what computes them. The kernel then takes one input more, the numbers of all steps.
    pub shapes: Option<Shapes>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its name, for messages.
    pub name: String,
    /// How many parameters it has; they come in the first registers.
    pub parameters: u32,
    /// How many registers it has.
    pub registers: u32,
    /// What it does. The last instruction does not fall through.
    pub code: Vec<Instruction>,
    /// Where in the source each instruction comes from: one an instruction, or none at all.
    pub places: Vec<Place>,
}
