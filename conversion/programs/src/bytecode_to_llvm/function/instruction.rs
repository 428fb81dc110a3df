//! The operations of each instruction.
//!
//! What an instruction takes is loaded from the places of its registers, and what it gives is stored in one. A call of a function
//! value looks first whether it takes so many arguments.

use super::strings::STRING_OPERATORS;
use super::{Body, FAIL, FAIL_ARGUMENTS, symbol_of};
use crate::bytecode_to_llvm::BytecodeError;
use crate::bytecode_to_llvm::globals::{Fixed, applied_symbol};
use crate::bytecode_to_llvm::layout::{FIELDS, Kind, TAG};
use crate::bytecode_to_llvm::values::{Head, Known};
use crate::bytecode_to_llvm::writer::{Callee, Order};
use fusion_bytecode::{Instruction, Register};
use fusion_dialects::Value;
use fusion_operators::DType;

impl<'c> Body<'_, 'c> {
    /// Writes an instruction; true when nothing can follow it.
    pub(super) fn instruction(
        &mut self,
        at: usize,
        instruction: &Instruction,
    ) -> Result<bool, BytecodeError> {
        use Instruction as I;
        let pointer = self.code.writer.spelling.pointer;
        match instruction {
            I::Constant { to, constant } => {
                let value = self.fixed(Fixed::Constant(*constant));
                self.set(*to, value);
                self.numbers.fixed.insert(*to);
                if let Some(number) = self.constant_number(*constant) {
                    self.numbers.read.insert(*to, number);
                }
            }
            I::Kernel { kernel, inputs, outputs } => {
                let kernel = &self.program.kernels[*kernel as usize];
                self.kernel(kernel, inputs, outputs);
            }
            I::Scalar { .. } => self.scalar(at, instruction),
            I::Operator { operator, attributes, inputs, outputs } => {
                match STRING_OPERATORS.iter().find(|row| row.operator.name == *operator) {
                    Some(row) => self.string_operator(at, row, attributes, (inputs, outputs))?,
                    None => {
                        let place = self.place(at);
                        return Err(BytecodeError::Dynamic { place, operator: operator.clone() });
                    }
                }
            }
            I::CheckTypes { values, types } => self.check_types(at, values, types),
            // A number that is no value has no owners.
            I::Copy { to, from } | I::Move { to, from } if self.numbers.loose.contains_key(from) => {
                self.numbers.copy(*to, *from);
                self.small.remove(to);
                if matches!(instruction, I::Move { .. }) {
                    self.numbers.forget(*from);
                }
            }
            I::Copy { to, from } | I::Move { to, from } => {
                let value = self.get(*from);
                if matches!(instruction, I::Copy { .. }) && !self.numbers.fixed.contains(from) {
                    self.code.retain(value);
                }
                let small = self.small.contains(from);
                self.set(*to, value);
                self.numbers.copy(*to, *from);
                self.small.extend(small.then_some(*to));
            }
            I::Drop { value }
                if self.numbers.loose.contains_key(value) || self.numbers.fixed.contains(value) =>
            {
                self.numbers.forget(*value);
            }
            I::Drop { value } => {
                let known = if self.small.contains(value) { Known::SmallTensor } else { Known::Nothing };
                let value = self.get(*value);
                self.code.release(value, known);
            }
            I::Tuple { to, elements } => {
                let parts = self.get_all(elements);
                let head = Head { kind: Kind::Tuple, tag: 0, which: 0, parts: parts.len() as u32 };
                let value = match parts.is_empty() {
                    true => self.fixed(Fixed::Unit),
                    false => self.code.new_owner(head, &parts),
                };
                self.set(*to, value);
            }
            I::Construct { to, data, tag, fields } => {
                let parts = self.get_all(fields);
                let Ok(which) = u16::try_from(*data) else {
                    return Err(self.malformed(at, "there are more than 65,536 data types"));
                };
                let head = Head { kind: Kind::Data, tag: *tag, which, parts: parts.len() as u32 };
                let value = match parts.is_empty() {
                    true => self.fixed(Fixed::Data(which, *tag)),
                    false => self.code.new_owner(head, &parts),
                };
                self.set(*to, value);
            }
            I::Field { to, from, index } => {
                let from = self.get(*from);
                let value = self.code.part(from, FIELDS, *index);
                self.code.retain(value);
                self.set(*to, value);
            }
            I::Closure { to, function, captured } => {
                let parts = self.get_all(captured);
                let count = parts.len() as u32;
                let value = if parts.is_empty() {
                    self.fixed(Fixed::Function(*function))
                } else {
                    self.globals.applied.insert((*function, count));
                    let code = self.code.writer.address(&applied_symbol(*function, count));
                    let takes = self.program.functions[*function as usize].parameters.saturating_sub(count);
                    self.code.new_closure(code, takes, &parts)
                };
                self.set(*to, value);
            }
            I::Call { to, function, arguments } => {
                let passed = self.passed(None, arguments);
                let callee = symbol_of(self.program, *function);
                let result = self.code.writer.call(Callee::Program(&callee), &passed, Some(pointer));
                result.into_iter().for_each(|result| self.set(*to, result));
            }
            I::Apply { to, closure, arguments } => {
                let passed = self.passed(Some(*closure), arguments);
                let code = self.applied(at, passed[1], arguments.len());
                let result = self.code.writer.call(Callee::Address(code), &passed, Some(pointer));
                result.into_iter().for_each(|result| self.set(*to, result));
            }
            I::TailCall { function, arguments } => {
                let passed = self.passed(None, arguments);
                let callee = symbol_of(self.program, *function);
                self.code.writer.tail_call(Callee::Program(&callee), &passed);
                return Ok(true);
            }
            I::TailApply { closure, arguments } => {
                let passed = self.passed(Some(*closure), arguments);
                let code = self.applied(at, passed[1], arguments.len());
                self.code.writer.tail_call(Callee::Address(code), &passed);
                return Ok(true);
            }
            I::Return { value } => {
                let value = self.get(*value);
                self.code.writer.give(&[value]);
                return Ok(true);
            }
            I::Jump { target } => {
                self.leave_for(&[*target]);
                self.code.writer.jump(self.labels[target].block());
                return Ok(true);
            }
            I::JumpUnless { condition, target } => {
                let flag = self.number(*condition, DType::Bool);
                self.leave_for(&[*target]);
                let zero = self.code.writer.int(self.code.writer.spelling.int8, 0);
                let no = self.code.writer.compare(Order::Equal, flag, zero);
                let next = self.code.writer.build.new_block(&[]);
                self.code.writer.jump_if(no, self.labels[target].block(), next.block(), None);
                self.code.writer.build = next;
                if !self.numbers.loose.contains_key(condition) {
                    self.small.insert(*condition);
                }
            }
            I::Switch { value, targets } => {
                let value = self.get(*value);
                let tag = self.code.writer.load(self.code.writer.spelling.int32, value, TAG);
                self.leave_for(targets);
                let blocks: Vec<_> = targets.iter().map(|target| self.labels[target].block()).collect();
                let Some((last, cases)) = blocks.split_last() else {
                    return Err(self.malformed(at, "goes nowhere"));
                };
                self.code.writer.switch(tag, cases, *last);
                return Ok(true);
            }
            I::NewCell { to, value } => {
                let held = self.get(*value);
                let head = Head { kind: Kind::Cell, tag: 0, which: 0, parts: 1 };
                let cell = self.code.new_owner(head, &[held]);
                self.set(*to, cell);
            }
            I::ReadCell { to, cell } => {
                let cell = self.get(*cell);
                let value = self.code.part(cell, FIELDS, 0);
                self.code.retain(value);
                self.set(*to, value);
            }
            I::WriteCell { cell, value } => {
                let (cell, value) = (self.get(*cell), self.get(*value));
                let before = self.code.part(cell, FIELDS, 0);
                self.code.writer.store(value, cell, FIELDS);
                self.code.release(before, Known::Nothing);
            }
            I::Fail { message } => {
                let message = format!("{}in @{}: {message}", self.place(at), self.function.name);
                let message = self.globals.message(&message);
                let message = self.code.writer.address(&message);
                self.code.writer.fail(FAIL, &[self.code.run, message]);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The run's context, a function value where one is called, and arguments.
    fn passed(&mut self, closure: Option<Register>, arguments: &[Register]) -> Vec<Value<'c>> {
        let run = self.code.run;
        let registers = closure.iter().chain(arguments).map(|register| self.get(*register));
        std::iter::once(run).chain(registers).collect()
    }

    /// The code of a function value, which must take so many arguments.
    fn applied(&mut self, at: usize, closure: Value<'c>, arguments: usize) -> Value<'c> {
        let writer = &self.code.writer;
        let takes = writer.load(writer.spelling.int32, closure, TAG);
        let fits = writer.compare(Order::Equal, takes, self.int32(arguments as i64));
        let (wrong, right) = (writer.build.new_block(&[]), writer.build.new_block(&[]));
        writer.jump_if(fits, right.block(), wrong.block(), Some([2000, 1]));
        let place = format!("{}in @{}", self.place(at), self.function.name);
        let message = self.globals.message(&place);
        self.code.writer.build = wrong;
        let message = self.code.writer.address(&message);
        self.code.writer.fail(FAIL_ARGUMENTS, &[self.code.run, message]);
        self.code.writer.build = right;
        self.code.writer.load(self.code.writer.spelling.pointer, closure, FIELDS)
    }
}
