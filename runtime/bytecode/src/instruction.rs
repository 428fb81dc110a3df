//! The instructions.
//!
//! A register holds a value or nothing. An operand is *taken* (the register is empty afterwards, the value moves on) or
//! *looked at* (it stays). `Copy` makes a second owner, `Drop` ends one. What an instruction writes to is empty before; operands
//! are taken first, so a result may go where an operand was. When a function ends, all of its registers are empty, except where
//! `Fail` ends the program: the compiler puts a `Drop` on every way on which a value is not needed any more (Reinking et al.,
//! "Perceus", PLDI 2021, without its reuse of memory).

use crate::Scalar;
use fusion_operators::{Attrs, DType, TensorType};
use serde::{Deserialize, Serialize};

/// A register of the function.
pub type Register = u32;
/// The place of an instruction in its function.
pub type Label = u32;

/// The place of a function in its program.
pub type FunctionId = u32;

/// A place in the source, as a message names it; empty when it is not known.
pub type Place = String;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Instruction {
    /// `to` is a constant of the program.
    Constant {
        /// Written.
        to: Register,
        /// Which of [`crate::Program::constants`].
        constant: u32,
    },
    /// Runs a kernel on tensors that are looked at; its results are new tensors.
    Kernel {
        /// Which of [`crate::Program::kernels`].
        kernel: u32,
        /// Looked at.
        inputs: Vec<Register>,
        /// Written.
        outputs: Vec<Register>,
    },
    /// Computes a number of numbers, tensors of rank 0 that are looked at. A zero divisor of integers ends the program with an
    /// error.
    Scalar {
        /// Written.
        to: Register,
        /// What is computed.
        scalar: Scalar,
        /// The element type of the operands.
        ty: DType,
        /// That of the result.
        result: DType,
        /// Looked at.
        inputs: Vec<Register>,
    },
    /// Computes an operator by its reference semantics on tensors that are looked at, whatever their extents are; its type
    /// relation is asked before. For operators on tensors whose extents are known at run time only.
    Operator {
        /// The name of its row.
        operator: String,
        /// Its attributes.
        attributes: Attrs,
        /// Looked at.
        inputs: Vec<Register>,
        /// Written.
        outputs: Vec<Register>,
    },
    /// Ends the program with an error unless tensors have these types. An extent with a name is the same everywhere in one such
    /// instruction.
    CheckTypes {
        /// Looked at.
        values: Vec<Register>,
        /// One a value.
        types: Vec<TensorType>,
    },
    /// A second owner of a value.
    Copy {
        /// Written.
        to: Register,
        /// Looked at.
        from: Register,
    },
    /// Moves a value.
    Move {
        /// Written.
        to: Register,
        /// Taken.
        from: Register,
    },
    /// Ends an owner.
    Drop {
        /// Taken.
        value: Register,
    },
    /// Forms a tuple.
    Tuple {
        /// Written.
        to: Register,
        /// Taken.
        elements: Vec<Register>,
    },
    /// Makes a value of a data type.
    Construct {
        /// Written.
        to: Register,
        /// Which of [`crate::Program::data`].
        data: u32,
        /// Which of its constructors.
        tag: u32,
        /// Taken.
        fields: Vec<Register>,
    },
    /// A second owner of an element of a tuple, or of a field of a value of a data type.
    Field {
        /// Written.
        to: Register,
        /// Looked at.
        from: Register,
        /// Which one.
        index: u32,
    },
    /// Makes a function value: a function whose first parameters are bound.
    Closure {
        /// Written.
        to: Register,
        /// The function.
        function: FunctionId,
        /// Taken: its first parameters.
        captured: Vec<Register>,
    },
    /// Calls a function.
    Call {
        /// Written.
        to: Register,
        /// The function.
        function: FunctionId,
        /// Taken.
        arguments: Vec<Register>,
    },
    /// Calls a function value.
    Apply {
        /// Written.
        to: Register,
        /// Taken.
        closure: Register,
        /// Taken.
        arguments: Vec<Register>,
    },
    /// Ends the function with what another gives, in its place: the stack does not grow.
    TailCall {
        /// The function.
        function: FunctionId,
        /// Taken.
        arguments: Vec<Register>,
    },
    /// As `TailCall`, of a function value.
    TailApply {
        /// Taken.
        closure: Register,
        /// Taken.
        arguments: Vec<Register>,
    },
    /// Ends the function.
    Return {
        /// Taken.
        value: Register,
    },
    /// Goes on elsewhere.
    Jump {
        /// Where.
        target: Label,
    },
    /// Goes on elsewhere when a tensor of one boolean is false, else with the next instruction.
    JumpUnless {
        /// Looked at.
        condition: Register,
        /// Where.
        target: Label,
    },
    /// Goes on where the constructor of a value says.
    Switch {
        /// Looked at.
        value: Register,
        /// One a constructor.
        targets: Vec<Label>,
    },
    /// Makes a cell.
    NewCell {
        /// Written.
        to: Register,
        /// Taken.
        value: Register,
    },
    /// A second owner of what a cell holds.
    ReadCell {
        /// Written.
        to: Register,
        /// Looked at.
        cell: Register,
    },
    /// Puts a value into a cell; what it held loses an owner.
    WriteCell {
        /// Looked at.
        cell: Register,
        /// Taken.
        value: Register,
    },
    /// Ends the program with an error.
    Fail {
        /// A full sentence.
        message: String,
    },
}
