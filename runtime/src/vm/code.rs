//! Instructions as the machine runs them: all functions in one list, of 16 bytes each, with lists of operands beside it.
//!
//! ```text
//!   functions   [ start 0, 2 registers ][ start 7, 5 registers ]
//!   code        [ ... Call { to: 1, function: 1, list: 3 } ... ]
//!   lists       [ ... 3: 2 4 5 ... ]                             a length, then registers
//! ```

use super::heap::Handle;
use fusion_bytecode::{Instruction as I, Program, Register, Scalar};
use fusion_operators::{Attrs, DType, Operator, TensorType, ops};

/// A place among the lists.
pub type List = u32;

/// As [`fusion_bytecode::Instruction`]; targets are places in the code of the program.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Constant { to: Register, value: Handle },
    Kernel { kernel: u32, inputs: List, outputs: List },
    Scalar { scalar: Scalar, ty: DType, result: DType, to: Register, a: Register, b: Register },
    Where { ty: DType, to: Register, list: List },
    Operator { call: u32 },
    CheckTypes { check: u32 },
    Copy { to: Register, from: Register },
    Move { to: Register, from: Register },
    Drop { value: Register },
    Tuple { to: Register, list: List },
    Construct { to: Register, constructor: u32, list: List },
    Field { to: Register, from: Register, index: u32 },
    Closure { to: Register, function: u32, list: List },
    Call { to: Register, function: u32, list: List },
    Apply { to: Register, closure: Register, list: List },
    TailCall { function: u32, list: List },
    TailApply { closure: Register, list: List },
    Return { value: Register },
    Jump { target: u32 },
    JumpUnless { condition: Register, target: u32 },
    Switch { value: Register, list: List },
    NewCell { to: Register, value: Register },
    ReadCell { to: Register, cell: Register },
    WriteCell { cell: Register, value: Register },
    Fail { message: u32 },
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Where its code starts.
    pub start: u32,
    /// How many values it takes.
    pub parameters: u32,
    /// How many registers it has.
    pub registers: u32,
}

/// An operator that is run by its row.
pub struct OperatorCall {
    /// The row.
    pub operator: &'static Operator,
    /// Its attributes.
    pub attributes: Attrs,
    /// Looked at.
    pub inputs: Vec<Register>,
    /// Written.
    pub outputs: Vec<Register>,
}

/// A program's code.
pub struct Code {
    /// All instructions.
    pub ops: Vec<Op>,
    /// Lists of registers or targets, each after its length.
    pub lists: Vec<u32>,
    /// The functions.
    pub functions: Vec<Function>,
    /// Data types and tags of constructors.
    pub constructors: Vec<(u32, u32)>,
    /// Operators run by their rows.
    pub operators: Vec<OperatorCall>,
    /// Values and their types.
    pub checks: Vec<(Vec<Register>, Vec<TensorType>)>,
    /// What failures say.
    pub messages: Vec<String>,
}

impl Code {
    /// Of a program that keeps the rules, with its constants as values.
    pub fn new(program: &Program, constants: &[Handle]) -> Code {
        let mut code = Code {
            ops: Vec::new(),
            lists: Vec::new(),
            functions: Vec::new(),
            constructors: Vec::new(),
            operators: Vec::new(),
            checks: Vec::new(),
            messages: Vec::new(),
        };
        for function in &program.functions {
            let start = code.ops.len() as u32;
            let (parameters, registers) = (function.parameters, function.registers);
            code.functions.push(Function { start, parameters, registers });
            for instruction in &function.code {
                let op = code.op(instruction, start, constants);
                code.ops.push(op);
            }
        }
        code
    }

    /// A list.
    #[inline]
    pub fn list(&self, list: List) -> &[u32] {
        let (start, length) = (list as usize + 1, self.lists[list as usize] as usize);
        &self.lists[start..start + length]
    }

    fn add_list(&mut self, items: impl ExactSizeIterator<Item = u32>) -> List {
        let list = self.lists.len() as List;
        self.lists.push(items.len() as u32);
        self.lists.extend(items);
        list
    }

    fn registers(&mut self, registers: &[Register]) -> List {
        self.add_list(registers.iter().copied())
    }

    fn op(&mut self, instruction: &I, start: u32, constants: &[Handle]) -> Op {
        match instruction {
            I::Constant { to, constant } => Op::Constant { to: *to, value: constants[*constant as usize] },
            I::Kernel { kernel, inputs, outputs } => {
                let (inputs, outputs) = (self.registers(inputs), self.registers(outputs));
                Op::Kernel { kernel: *kernel, inputs, outputs }
            }
            I::Scalar { to, scalar, ty, result, inputs } => match inputs[..] {
                [a] => Op::Scalar { scalar: *scalar, ty: *ty, result: *result, to: *to, a, b: a },
                [a, b] => Op::Scalar { scalar: *scalar, ty: *ty, result: *result, to: *to, a, b },
                _ => Op::Where { ty: *ty, to: *to, list: self.registers(inputs) },
            },
            I::Operator { operator, attributes, inputs, outputs } => match ops::named(operator) {
                Some(operator) => {
                    let call = self.operators.len() as u32;
                    let (attributes, inputs, outputs) = (attributes.clone(), inputs.clone(), outputs.clone());
                    self.operators.push(OperatorCall { operator, attributes, inputs, outputs });
                    Op::Operator { call }
                }
                None => self.fail(&format!("there is no operator {operator:?}")),
            },
            I::CheckTypes { values, types } => {
                self.checks.push((values.clone(), types.clone()));
                Op::CheckTypes { check: self.checks.len() as u32 - 1 }
            }
            I::Copy { to, from } => Op::Copy { to: *to, from: *from },
            I::Move { to, from } => Op::Move { to: *to, from: *from },
            I::Drop { value } => Op::Drop { value: *value },
            I::Tuple { to, elements } => Op::Tuple { to: *to, list: self.registers(elements) },
            I::Construct { to, data, tag, fields } => {
                self.constructors.push((*data, *tag));
                let constructor = self.constructors.len() as u32 - 1;
                Op::Construct { to: *to, constructor, list: self.registers(fields) }
            }
            I::Field { to, from, index } => Op::Field { to: *to, from: *from, index: *index },
            I::Closure { to, function, captured } => {
                Op::Closure { to: *to, function: *function, list: self.registers(captured) }
            }
            I::Call { to, function, arguments } => {
                Op::Call { to: *to, function: *function, list: self.registers(arguments) }
            }
            I::Apply { to, closure, arguments } => {
                Op::Apply { to: *to, closure: *closure, list: self.registers(arguments) }
            }
            I::TailCall { function, arguments } => {
                Op::TailCall { function: *function, list: self.registers(arguments) }
            }
            I::TailApply { closure, arguments } => {
                Op::TailApply { closure: *closure, list: self.registers(arguments) }
            }
            I::Return { value } => Op::Return { value: *value },
            I::Jump { target } => Op::Jump { target: start + target },
            I::JumpUnless { condition, target } => {
                Op::JumpUnless { condition: *condition, target: start + target }
            }
            I::Switch { value, targets } => {
                let list = self.add_list(targets.iter().map(|target| start + target));
                Op::Switch { value: *value, list }
            }
            I::NewCell { to, value } => Op::NewCell { to: *to, value: *value },
            I::ReadCell { to, cell } => Op::ReadCell { to: *to, cell: *cell },
            I::WriteCell { cell, value } => Op::WriteCell { cell: *cell, value: *value },
            I::Fail { message } => self.fail(message),
        }
    }

    fn fail(&mut self, message: &str) -> Op {
        self.messages.push(message.to_owned());
        Op::Fail { message: self.messages.len() as u32 - 1 }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn instructions_are_small() {
        assert_eq!(size_of::<super::Op>(), 16);
    }
}
