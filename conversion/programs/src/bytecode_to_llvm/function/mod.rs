//! A function of the program: its instructions in order, a block for each that is jumped to.
//!
//! Registers are places on the stack here; LLVM makes values of them. The run's context comes first, then the parameters.
//! A function that waits for others looks first whether the stack has room for it.

mod dynamic;
mod instruction;
mod scalars;
pub mod strings;
mod tensors;

use super::BytecodeError;
use super::globals::{Fixed, Globals, applied_symbol};
use super::layout::{BEHIND_POINTER, FIELDS, STACK_LIMIT};
use super::values::Code;
use super::writer::{Callee, Order, Writer};
use fusion_bytecode::{Function, FunctionId, Instruction, Kernel, Program, Register};
use fusion_dialects::{Build, Value};
use fusion_operators::TensorType;
use scalars::Numbers;
use std::collections::{HashMap, HashSet};

/// A large tensor, or one of dynamic extents.
pub const NEW_TENSOR: &str = "fusion_new_tensor";
/// Ends the run with a message.
pub const FAIL: &str = "fusion_fail";
/// Ends the run since the stack is used up.
pub const FAIL_STACK: &str = "fusion_fail_stack";
/// Ends the run since a function value takes another number of arguments.
pub const FAIL_ARGUMENTS: &str = "fusion_fail_arguments";
/// Ends the run with a message and two numbers.
pub const FAIL_EXTENTS: &str = "fusion_fail_extents";
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
    /// Room for the pointers a kernel gets, its inputs and its outputs; for the extents that have names in a check of types; for the
    /// numbers of a shape function; and for the extents of a tensor that they give.
    room: [Value<'c>; 5],
    /// Where each instruction that is jumped to begins.
    labels: HashMap<u32, Build<'c>>,
    /// How many jumps lead to each label.
    jumps: HashMap<u32, usize>,
    /// Registers with small tensors.
    small: HashSet<Register>,
    /// Registers whose numbers are known.
    numbers: Numbers<'c>,
    /// What is known where a way begins.
    carried: HashMap<u32, Numbers<'c>>,
    /// Where in the source the instruction comes from, as messages begin.
    here: String,
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
        let most = |count: &dyn Fn(&Kernel) -> usize| {
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
        let operators = |count: fn(&[Register], &[Register]) -> usize| {
            let counts = function.code.iter().map(|i| match i {
                Instruction::Operator { inputs, outputs, .. } => count(inputs, outputs),
                _ => 0,
            });
            counts.max().unwrap_or(0)
        };
        let temporaries = |k: &Kernel| k.shapes.as_ref().map_or(0, |shapes| shapes.temporaries.len());
        let steps = |k: &Kernel| k.shapes.as_ref().map_or(0, |shapes| shapes.steps.len());
        let room = [
            most(&|k| k.inputs.len() + 1).max(operators(|inputs, _| inputs.len())),
            most(&|k| k.outputs.len() + temporaries(k)).max(operators(|_, outputs| outputs.len())),
            extents.max().unwrap_or(0).max(1),
            most(&steps),
            most(&|k| {
                let temporaries = k.shapes.iter().flat_map(|shapes| &shapes.temporaries);
                k.outputs.iter().chain(temporaries).map(TensorType::rank).max().unwrap_or(0)
            }),
        ];
        let room = room.map(|pointers| writer.room(pointers));
        let registers: Vec<Value> = (0..function.registers).map(|_| writer.room(1)).collect();
        for (argument, register) in arguments.iter().zip(&registers) {
            writer.store(*argument, *register, 0);
        }
        let mut targets: Vec<u32> = function.code.iter().flat_map(|i| i.targets().to_vec()).collect();
        let mut jumps = HashMap::new();
        targets.iter().for_each(|label| *jumps.entry(*label).or_default() += 1);
        targets.sort_unstable();
        targets.dedup();
        let labels = targets.into_iter().map(|label| (label, writer.build.new_block(&[]))).collect();
        let (small, numbers, carried) = (HashSet::new(), Numbers::default(), HashMap::new());
        let here = String::new();
        Body {
            code,
            program,
            function,
            globals,
            registers,
            room,
            labels,
            jumps,
            small,
            numbers,
            carried,
            here,
        }
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
                    self.fasten_all();
                    self.code.writer.jump(label.block());
                }
                self.code.writer.build = label;
                self.small.clear();
                self.numbers = self.carried.remove(&(at as u32)).unwrap_or_default();
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
            self.here = self.place(at);
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
    fn taken_apart(&mut self, at: usize) -> Option<(Value<'c>, Vec<u32>, Vec<Register>)> {
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

    fn get(&mut self, register: Register) -> Value<'c> {
        self.fasten(register);
        self.code.writer.load(self.code.writer.spelling.pointer, self.registers[register as usize], 0)
    }

    fn get_all(&mut self, registers: &[Register]) -> Vec<Value<'c>> {
        registers.iter().map(|register| self.get(*register)).collect()
    }

    fn set(&mut self, register: Register, value: Value<'c>) {
        self.small.remove(&register);
        self.numbers.forget(register);
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
}
