//! The loop that carries out instructions.
//!
//! ```text
//!   registers  [ @main: 0 1 2 | @length: 0 1 2 3 4 | @length: ... ]      one list for all calls
//!   frames     [ from @main, to register 2 ][ from @length, ... ]        where to go on after a call
//! ```
//! A call adds a frame, a tail call does not; neither uses the stack of the thread, so only [`Limits`] bound the recursion. What an
//! instruction takes is moved by its number, so the loop touches counts of owners only where the program says so.

mod calls;
mod compute;
mod sorts;

use super::Limits;
use super::code::{Code, Op};
use super::heap::{Handle, Heap, Kind, Sort};
use super::library::Kernels;
use super::tensors::Slot;
use fusion_bytecode::{Kernel, Register, match_types};

/// Where to go on after a call.
#[derive(Clone, Copy)]
struct Frame {
    /// The call.
    at: u32,
    /// The first register of who called.
    base: u32,
    /// How many registers it has.
    size: u32,
    /// Where the value goes.
    to: Register,
}

/// What runs change.
pub struct State {
    /// The values.
    pub heap: Heap,
    /// The kernels.
    pub kernels: Kernels,
    /// The instruction that is carried out.
    pub at: usize,
    registers: Vec<Handle>,
    frames: Vec<Frame>,
    /// The registers of the function that runs: the first one, and how many.
    base: usize,
    size: usize,
    steps: u64,
    /// Values that an instruction took and has not put anywhere yet. This list and the next two are kept so that no instruction
    /// allocates.
    values: Vec<Handle>,
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
    /// Where in the source the run failed, where the instruction does not say.
    pub place: Option<String>,
}

/// Carrying out an instruction, or why it cannot be.
type Step<T> = Result<T, String>;

impl State {
    /// Nothing runs yet.
    pub fn new(heap: Heap, kernels: Kernels) -> State {
        State {
            heap,
            kernels,
            at: 0,
            registers: Vec::new(),
            frames: Vec::new(),
            base: 0,
            size: 0,
            steps: 0,
            values: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            place: None,
        }
    }

    /// Calls a function and gives its value.
    pub fn run(
        &mut self,
        code: &Code,
        kernels: &[Kernel],
        limits: Limits,
        entry: u32,
        arguments: &[Handle],
    ) -> Step<Handle> {
        self.steps = limits.steps;
        self.place = None;
        (self.base, self.size) = (0, 0);
        self.at = code.functions[entry as usize].start as usize;
        self.values.clear();
        self.values.extend(arguments);
        let result = self.enter(code, limits, entry, 0).and_then(|()| {
            self.at = self.arrive(code, entry);
            self.steps(code, kernels, limits)
        });
        if result.is_err() {
            for value in self.values.drain(..).chain(self.registers.iter_mut().map(std::mem::take)) {
                self.heap.release(value);
            }
            self.frames.clear();
        }
        // What a deep recursion needed is not kept.
        self.registers.truncate(1 << 16);
        self.registers.shrink_to(1 << 16);
        self.frames.shrink_to(1 << 14);
        result
    }

    fn steps(&mut self, code: &Code, kernels: &[Kernel], limits: Limits) -> Step<Handle> {
        let mut at = self.at;
        loop {
            self.at = at;
            match code.ops[at] {
                Op::Constant { to, value } => {
                    self.heap.retain(value);
                    self.set(to, value);
                }
                Op::Kernel { kernel, inputs, outputs } => {
                    self.kernel(kernels, kernel as usize, code.list(inputs), code.list(outputs))?;
                }
                Op::Operator { call } => self.operator(&code.operators[call as usize])?,
                Op::CheckTypes { check } => {
                    let (values, types) = &code.checks[check as usize];
                    self.inputs.clear();
                    for &register in values {
                        let slot = self.tensor(self.get(register))?;
                        self.inputs.push(slot);
                    }
                    let found = self.inputs.iter().map(|&slot| self.heap.tensors.type_of(slot));
                    match_types(types.iter().zip(found)).map_err(|error| error.to_string())?;
                }
                Op::Copy { to, from } => {
                    let value = self.get(from);
                    self.heap.retain(value);
                    self.set(to, value);
                }
                Op::Move { to, from } => {
                    let value = self.take(from);
                    self.set(to, value);
                }
                Op::Drop { value } => {
                    let value = self.take(value);
                    self.heap.release(value);
                }
                Op::Tuple { to, list } => self.make(Kind::Tuple, 0, 0, to, code.list(list))?,
                Op::Construct { to, constructor, list } => {
                    let (data, tag) = code.constructors[constructor as usize];
                    self.make(Kind::Data, tag, data, to, code.list(list))?;
                }
                Op::Field { to, from, index } => {
                    let from = self.get(from);
                    let field = match from.sort() {
                        Sort::Node(place) if matches!(self.heap.kind(place), Kind::Tuple | Kind::Data) => {
                            self.heap.field(place, index as usize)
                        }
                        _ => None,
                    };
                    let field = field.ok_or_else(|| self.no_field(from, index))?;
                    self.heap.retain(field);
                    self.set(to, field);
                }
                Op::Closure { to, function, list } => {
                    self.make(Kind::Closure, function, 0, to, code.list(list))?;
                }
                Op::Call { to, function, list } => {
                    self.count(limits)?;
                    let base = self.base;
                    self.push(limits, to)?;
                    self.enter(code, limits, function, base + self.size)?;
                    for (i, &register) in code.list(list).iter().enumerate() {
                        let value = std::mem::take(&mut self.registers[base + register as usize]);
                        self.registers[self.base + i] = value;
                    }
                    at = code.functions[function as usize].start as usize;
                    continue;
                }
                Op::Apply { to, closure, list } => {
                    self.count(limits)?;
                    let function = self.open(code, closure, list)?;
                    self.push(limits, to)?;
                    self.enter(code, limits, function, self.base + self.size)?;
                    at = self.arrive(code, function);
                    continue;
                }
                Op::TailCall { function, list } => {
                    self.count(limits)?;
                    self.take_all(code.list(list));
                    self.enter(code, limits, function, self.base)?;
                    at = self.arrive(code, function);
                    continue;
                }
                Op::TailApply { closure, list } => {
                    self.count(limits)?;
                    let function = self.open(code, closure, list)?;
                    self.enter(code, limits, function, self.base)?;
                    at = self.arrive(code, function);
                    continue;
                }
                Op::Return { value } => {
                    let value = self.take(value);
                    let Some(frame) = self.frames.pop() else { return Ok(value) };
                    (self.base, self.size) = (frame.base as usize, frame.size as usize);
                    self.set(frame.to, value);
                    at = frame.at as usize;
                }
                Op::Jump { target } => {
                    self.count(limits)?;
                    at = target as usize;
                    continue;
                }
                Op::JumpUnless { condition, target } => {
                    if !self.truth(self.get(condition))? {
                        at = target as usize;
                        continue;
                    }
                }
                Op::Switch { value, list } => {
                    let tag = self.data_tag(self.get(value))?;
                    let targets = code.list(list);
                    let Some(&target) = targets.get(tag as usize) else {
                        return Err(format!(
                            "a value of constructor {tag} is matched by {} cases",
                            targets.len()
                        ));
                    };
                    at = target as usize;
                    continue;
                }
                Op::NewCell { to, value } => self.make(Kind::Cell, 0, 0, to, &[value])?,
                Op::ReadCell { to, cell } => {
                    let place = self.cell(self.get(cell))?;
                    let value = self.heap.field(place, 0).unwrap_or_default();
                    self.heap.retain(value);
                    self.set(to, value);
                }
                Op::WriteCell { cell, value } => {
                    let place = self.cell(self.get(cell))?;
                    let value = self.take(value);
                    let before = self.heap.replace_field(place, 0, value);
                    self.heap.release(before);
                }
                Op::Fail { message } => return Err(code.messages[message as usize].clone()),
            }
            at += 1;
        }
    }

    #[inline]
    fn get(&self, register: Register) -> Handle {
        self.registers[self.base + register as usize]
    }

    #[inline]
    fn take(&mut self, register: Register) -> Handle {
        std::mem::take(&mut self.registers[self.base + register as usize])
    }

    #[inline]
    fn set(&mut self, register: Register, value: Handle) {
        self.registers[self.base + register as usize] = value;
    }

    #[inline]
    fn count(&mut self, limits: Limits) -> Step<()> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(format!("the program takes more than {} calls and jumps", limits.steps)),
        }
    }

    /// Takes registers into the list of values.
    #[inline]
    fn take_all(&mut self, registers: &[Register]) {
        self.values.clear();
        for &register in registers {
            let value = std::mem::take(&mut self.registers[self.base + register as usize]);
            self.values.push(value);
        }
    }

    #[inline]
    fn make(&mut self, kind: Kind, tag: u32, data: u32, to: Register, fields: &[Register]) -> Step<()> {
        self.take_all(fields);
        let value = self.heap.make(kind, tag, data, &self.values).map_err(|error| error.to_string())?;
        self.values.clear();
        self.set(to, value);
        Ok(())
    }
}
