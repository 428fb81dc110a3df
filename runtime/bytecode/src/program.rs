//! What a program consists of.

use crate::value_type::Part;
use crate::{Instruction, Shapes};
use fusion_operators::{Tensor, TensorType};
use serde::{Deserialize, Serialize};

/// The place of a function in its program.
pub type FunctionId = u32;

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Data types; values of them have the tags of their constructors.
    pub data: Vec<DataType>,
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

/// A place in the source, as a message names it; empty when it is not known.
pub type Place = String;

/// The type of a value, as far as who hands values in and out needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<Part>", try_from = "Vec<Part>")]
pub enum ValueType {
    /// A tensor; its extents may be dynamic.
    Tensor(TensorType),
    /// A tuple.
    Tuple(Vec<ValueType>),
    /// A data type of the program, applied to types.
    Data(u32, Vec<ValueType>),
    /// A cell.
    Cell(Box<ValueType>),
    /// A function; it cannot be handed in or out.
    Function,
    /// What a data type is applied to at that place; in types of fields only.
    Parameter(u32),
}

impl Default for ValueType {
    fn default() -> Self {
        ValueType::Tuple(Vec::new())
    }
}
