//! A function of the program: its instructions in order, a block for each that is jumped to.
//!
//! Registers are places on the stack here; LLVM makes values of them. The run's context comes first, then the parameters.
//! A function that waits for others looks first whether the stack has room for it.

use super::BytecodeError;
use super::globals::{Fixed, Globals, applied_symbol, number_of, tensor_facts};
use super::layout::{BEHIND_POINTER, FIELDS, Kind, STACK_LIMIT, TAG, WORKSPACE, tensor_layout};
use super::values::{Code, Head, Known};
use super::writer::{Callee, Order, Writer};
use fusion_bytecode::{Function, FunctionId, Instruction, Kernel, Program, Register};
use fusion_dialects::{Build, Value};
use fusion_operators::TensorType;
use indexmap::IndexSet;
use std::collections::{HashMap, HashSet};

/// A large tensor, or one of open extents.
pub const NEW_TENSOR: &str = "fusion_new_tensor";
/// Ends the run with a message.
pub const FAIL: &str = "fusion_fail";
/// Ends the run since the stack is used up.
pub const FAIL_STACK: &str = "fusion_fail_stack";
/// Ends the run since a function value takes another number of arguments.
pub const FAIL_ARGUMENTS: &str = "fusion_fail_arguments";
/// Compares a tensor with a type.
pub const CHECK_TYPE: &str = "fusion_check_type";

/// The symbol of a function.
pub fn symbol_of(program: &Program, function: FunctionId) -> String {
    let name = program.functions.get(function as usize).map_or("", |f| f.name.as_str());
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("function.{function}.{plain}")
}

/// The function that function values run: with the value and the arguments it still takes, it calls the function itself.
pub fn write_applied(
    writer: &Writer,
    program: &Program,
    function: FunctionId,
    captured: u32,
) -> Result<(), BytecodeError> {
    let callee = &program.functions[function as usize];
    let takes = callee.parameters.saturating_sub(captured) as usize;
    writer.function(&applied_symbol(function, captured), 2 + takes, true, |writer, arguments| {
        let mut code = Code { writer, run: arguments[0] };
        let parts: Vec<u32> = (0..captured).collect();
        let mut passed = vec![arguments[0]];
        if captured > 0 {
            passed.extend(code.take_apart(arguments[1], BEHIND_POINTER, &parts, true));
        }
        passed.extend(&arguments[2..]);
        code.writer.tail_call(Callee::Program(&symbol_of(program, function)), &passed);
        Ok(())
    })
}

/// Writes a function.
pub fn write_function(
    writer: &Writer,
    program: &Program,
    id: FunctionId,
    globals: &mut Globals,
) -> Result<(), BytecodeError> {
    let function = &program.functions[id as usize];
    let symbol = symbol_of(program, id);
    writer.function(&symbol, 1 + function.parameters as usize, true, |writer, arguments| {
        let code = Code { writer, run: arguments[0] };
        Body::begin(code, program, function, globals, &arguments[1..]).write()
    })
}

struct Body<'a, 'c> {
    code: Code<'c>,
    program: &'a Program,
    function: &'a Function,
    globals: &'a mut Globals,
    /// A place on the stack for each register.
    registers: Vec<Value<'c>>,
    /// Room for the pointers a kernel gets, its inputs and its outputs, and for the extents that have names in a check of types.
    room: [Value<'c>; 3],
    /// Where each instruction that is jumped to begins.
    labels: HashMap<u32, Build<'c>>,
    /// Registers with small tensors.
    small: HashSet<Register>,
}

impl<'a, 'c> Body<'a, 'c> {
    fn begin(
        code: Code<'c>,
        program: &'a Program,
        function: &'a Function,
        globals: &'a mut Globals,
        arguments: &[Value<'c>],
    ) -> Self {
        let writer = &code.writer;
        let most = |count: fn(&Kernel) -> usize| {
            let kernels = function.code.iter().filter_map(|i| match i {
                Instruction::Kernel { kernel, .. } => program.kernels.get(*kernel as usize),
                _ => None,
            });
            kernels.map(count).max().unwrap_or(0).max(1)
        };
        let extents = function.code.iter().map(|i| match i {
            Instruction::CheckTypes { types, .. } => types.iter().map(TensorType::rank).sum(),
            _ => 0,
        });
        let room = [most(|k| k.inputs.len()), most(|k| k.outputs.len()), extents.max().unwrap_or(0).max(1)];
        let room = room.map(|pointers| writer.room(pointers));
        let registers: Vec<Value> = (0..function.registers).map(|_| writer.room(1)).collect();
        for (argument, register) in arguments.iter().zip(&registers) {
            writer.store(*argument, *register, 0);
        }
        let mut targets: Vec<u32> = function.code.iter().flat_map(|i| i.targets().to_vec()).collect();
        targets.sort_unstable();
        targets.dedup();
        let labels = targets.into_iter().map(|label| (label, writer.build.new_block(&[]))).collect();
        let small = HashSet::new();
        Body { code, program, function, globals, registers, room, labels, small }
    }

    fn write(mut self) -> Result<(), BytecodeError> {
        let waits = |i: &Instruction| matches!(i, Instruction::Call { .. } | Instruction::Apply { .. });
        if self.function.code.iter().any(waits) {
            self.check_stack();
        }
        let mut ended = false;
        let mut skip = 0;
        for (at, instruction) in self.function.code.iter().enumerate() {
            if let Some(label) = self.labels.get(&(at as u32)).copied() {
                if !ended {
                    self.code.writer.jump(label.block());
                }
                self.code.writer.build = label;
                self.small.clear();
                (ended, skip) = (false, 0);
            }
            if ended {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if let Some((value, fields, registers)) = self.taken_apart(at) {
                skip = fields.len(); // the loop goes on behind the Drop
                let parts = self.code.take_apart(value, FIELDS, &fields, false);
                registers.iter().zip(parts).for_each(|(register, part)| self.set(*register, part));
                continue;
            }
            ended = self.instruction(at, instruction)?;
        }
        if ended {
            Ok(())
        } else {
            Err(self.malformed(self.function.code.len(), "does not end the function"))
        }
    }

    /// Fields of a value that are read one after another, whereupon it is dropped: the register of the value, the fields, and
    /// where they go.
    fn taken_apart(&self, at: usize) -> Option<(Value<'c>, Vec<u32>, Vec<Register>)> {
        let Instruction::Field { from, .. } = &self.function.code[at] else { return None };
        let (mut fields, mut registers) = (Vec::new(), Vec::new());
        for (next, instruction) in self.function.code.iter().enumerate().skip(at) {
            if next > at && self.labels.contains_key(&(next as u32)) {
                return None;
            }
            match instruction {
                Instruction::Field { to, from: same, index } if same == from && !fields.contains(index) => {
                    fields.push(*index);
                    registers.push(*to);
                }
                Instruction::Drop { value } if value == from => {
                    let whole = self.get(*from);
                    return Some((whole, fields, registers));
                }
                _ => return None,
            }
        }
        None
    }

    fn check_stack(&mut self) {
        let pointer = self.code.writer.spelling.pointer;
        let here = self.code.writer.build.value("llvm.intr.stacksave", &[], pointer, &[]);
        let limit = self.code.writer.load(pointer, self.code.run, STACK_LIMIT);
        let below = self.code.writer.compare(Order::Below, here, limit);
        let place = self.function.places.first().filter(|place| !place.is_empty());
        let place = place.map_or(String::new(), |place| format!("{place}: "));
        let message = self.globals.message(&format!("{place}in @{}", self.function.name));
        let run = self.code.run;
        let inside = self.code.writer.build.new_block(&[]);
        let after = self.code.writer.build.new_block(&[]);
        self.code.writer.jump_if(below, inside.block(), after.block(), Some([1, 2000]));
        self.code.writer.build = inside;
        let message = self.code.writer.address(&message);
        self.code.writer.fail(FAIL_STACK, &[run, message]);
        self.code.writer.build = after;
    }

    fn get(&self, register: Register) -> Value<'c> {
        self.code.writer.load(self.code.writer.spelling.pointer, self.registers[register as usize], 0)
    }

    fn get_all(&self, registers: &[Register]) -> Vec<Value<'c>> {
        registers.iter().map(|register| self.get(*register)).collect()
    }

    fn set(&mut self, register: Register, value: Value<'c>) {
        self.small.remove(&register);
        self.code.writer.store(value, self.registers[register as usize], 0);
    }

    fn fixed(&mut self, fixed: Fixed) -> Value<'c> {
        let symbol = self.globals.fixed(fixed);
        self.code.writer.address(&symbol)
    }

    fn int32(&self, value: i64) -> Value<'c> {
        self.code.writer.int(self.code.writer.spelling.int32, value)
    }

    fn malformed(&self, at: usize, why: &str) -> BytecodeError {
        BytecodeError::Malformed(format!("function @{}, instruction {at}: {why}", self.function.name))
    }

    fn place(&self, at: usize) -> String {
        match self.function.places.get(at).filter(|place| !place.is_empty()) {
            Some(place) => format!("{place}: "),
            None => String::new(),
        }
    }

    /// Writes an instruction; true when nothing can follow it.
    fn instruction(&mut self, at: usize, instruction: &Instruction) -> Result<bool, BytecodeError> {
        use Instruction as I;
        let pointer = self.code.writer.spelling.pointer;
        match instruction {
            I::Constant { to, constant } => {
                let value = self.fixed(Fixed::Constant(*constant));
                self.set(*to, value);
            }
            I::Kernel { kernel, inputs, outputs } => {
                let kernel = &self.program.kernels[*kernel as usize];
                self.kernel(kernel, inputs, outputs);
            }
            I::Operator { operator, .. } => {
                let place = self.place(at);
                return Err(BytecodeError::Open { place, operator: operator.clone() });
            }
            I::CheckTypes { values, types } => self.check_types(at, values, types),
            I::Copy { to, from } => {
                let value = self.get(*from);
                self.code.retain(value);
                let small = self.small.contains(from);
                self.set(*to, value);
                self.small.extend(small.then_some(*to));
            }
            I::Move { to, from } => {
                let (value, small) = (self.get(*from), self.small.contains(from));
                self.set(*to, value);
                self.small.extend(small.then_some(*to));
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
                self.code.writer.jump(self.labels[target].block());
                return Ok(true);
            }
            I::JumpUnless { condition, target } => {
                let tensor = self.get(*condition);
                let data = self.code.writer.load(pointer, tensor, FIELDS);
                let flag = self.code.writer.load(self.code.writer.spelling.int8, data, 0);
                let zero = self.code.writer.int(self.code.writer.spelling.int8, 0);
                let no = self.code.writer.compare(Order::Equal, flag, zero);
                let next = self.code.writer.build.new_block(&[]);
                self.code.writer.jump_if(no, self.labels[target].block(), next.block(), None);
                self.code.writer.build = next;
                self.small.insert(*condition);
            }
            I::Switch { value, targets } => {
                let value = self.get(*value);
                let tag = self.code.writer.load(self.code.writer.spelling.int32, value, TAG);
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
    fn passed(&self, closure: Option<Register>, arguments: &[Register]) -> Vec<Value<'c>> {
        let registers = closure.iter().chain(arguments).map(|register| self.get(*register));
        std::iter::once(self.code.run).chain(registers).collect()
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

    fn kernel(&mut self, kernel: &Kernel, inputs: &[Register], outputs: &[Register]) {
        let pointer = self.code.writer.spelling.pointer;
        for (i, input) in inputs.iter().enumerate() {
            let tensor = self.get(*input);
            let data = self.code.writer.load(pointer, tensor, FIELDS);
            self.code.writer.store(data, self.room[0], 8 * i as u64);
        }
        let made: Vec<Value> = kernel.outputs.iter().map(|ty| self.new_tensor(ty)).collect();
        for (i, tensor) in made.iter().enumerate() {
            let data = self.code.writer.load(pointer, *tensor, FIELDS);
            self.code.writer.store(data, self.room[1], 8 * i as u64);
        }
        let workspace = self.code.writer.load(pointer, self.code.run, WORKSPACE);
        let passed = [self.room[0], self.room[1], workspace];
        self.code.writer.call(Callee::C(&kernel.symbol), &passed, None);
        let is_small = |ty: &TensorType| tensor_layout(ty).is_some();
        self.small.extend(inputs.iter().zip(&kernel.inputs).filter(|(_, ty)| is_small(ty)).map(|(r, _)| *r));
        for ((register, tensor), ty) in outputs.iter().zip(made).zip(&kernel.outputs) {
            self.set(*register, tensor);
            self.small.extend(is_small(ty).then_some(*register));
        }
    }

    /// A tensor whose elements are not written yet.
    fn new_tensor(&mut self, ty: &TensorType) -> Value<'c> {
        let shape = ty.shape().unwrap_or_default();
        let (which, element) = (number_of(ty.dtype), ty.dtype.size() as u32);
        if let Some(layout) = tensor_layout(ty) {
            let head = Head { kind: Kind::Tensor, tag: element, which, parts: shape.len() as u32 };
            return self.code.new_tensor(layout, head, &shape);
        }
        let extents = shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        let extents = self.globals.numbers(extents);
        let writer = &self.code.writer;
        let numbers = [i64::from(which), i64::from(element), shape.len() as i64].map(|n| self.int32(n));
        let extents = writer.address(&extents);
        let passed = [&[self.code.run], &numbers[..], &[extents]].concat();
        let made = writer.call(Callee::C(NEW_TENSOR), &passed, Some(writer.spelling.pointer));
        made.unwrap_or(extents)
    }

    fn check_types(&mut self, at: usize, values: &[Register], types: &[TensorType]) {
        let mut names = IndexSet::new();
        let facts: Vec<Vec<i64>> = types.iter().map(|ty| tensor_facts(ty, &mut names)).collect();
        let bound = self.room[2];
        let (int64, run) = (self.code.writer.spelling.int64, self.code.run);
        for i in 0..names.len() {
            let unknown = self.code.writer.int(int64, -1);
            self.code.writer.store(unknown, bound, 8 * i as u64);
        }
        for ((value, ty), facts) in values.iter().zip(types).zip(facts) {
            let facts = self.globals.numbers(facts);
            let text = format!("{}in @{}: a value should be a {ty}", self.place(at), self.function.name);
            let text = self.globals.message(&text);
            let (value, facts) = (self.get(*value), self.code.writer.address(&facts));
            let text = self.code.writer.address(&text);
            self.code.writer.call(Callee::C(CHECK_TYPE), &[run, value, facts, bound, text], None);
        }
    }
}
