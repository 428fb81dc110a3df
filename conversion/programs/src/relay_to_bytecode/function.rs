//! One function: its parameters, and its blocks operation by operation.

use super::code::Code;
use super::known::{Known, is_closure};
use super::liveness::{Frame, Runs, gives_known, is_needed};
use super::program::{Lowering, Wanted, signature};
use fusion_bytecode::{Function, Instruction, Register};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, arguments, key, kind_of,
    name_of_location, ops_in, relay,
};
use std::collections::{HashMap, HashSet};

/// Regions nested deeper than this are refused: what walks them calls itself.
const MOST_DEPTH: usize = 256;

/// Where what a block gives goes.
#[derive(Clone)]
pub enum To {
    /// Out of the function.
    Return,
    /// Into these registers.
    Registers(Vec<Register>),
}

/// A function being lowered.
pub struct Body<'a, 'c> {
    /// The program.
    pub program: &'a mut Lowering<'c>,
    /// What is written.
    pub code: Code,
    /// The registers of values.
    pub registers: HashMap<usize, Register>,
    /// The blocks around.
    pub frames: Vec<Frame>,
    /// Registers that values shall be made in.
    pub preferred: HashMap<usize, Register>,
    /// Values that were compared with a type of known extents, and that type's text.
    pub checked: HashSet<(usize, String)>,
    /// The types the function gives, where somebody relies on them without looking.
    pub given: Vec<Type<'c>>,
}

/// Lowers a function or closure.
pub fn lower<'c>(program: &mut Lowering<'c>, wanted: &Wanted<'c>) -> Result<Function, PassError<'c>> {
    refuse_depth(wanted.op)?;
    let Some(block) = wanted.op.body(0) else {
        return Err(PassError::at(wanted.op, "has no body"));
    };
    if fusion_dialects::BlockLike::next_in_region(&block).is_some() {
        return Err(PassError::at(wanted.op, "has several blocks; functions of the language have one"));
    }
    let mut taken = arguments(block);
    let mut parameters = Vec::new();
    if is_closure(wanted.op) {
        if wanted.op.attr(relay::RECURSIVE).is_some() && !taken.is_empty() {
            taken.remove(0);
        }
        parameters.extend(program.facts.captures(wanted.op).iter().copied());
    }
    parameters.extend(taken);
    let mut body = Body {
        program,
        code: Code::at(name_of_location(wanted.op.location())),
        registers: HashMap::new(),
        frames: Vec::new(),
        preferred: HashMap::new(),
        checked: HashSet::new(),
        given: Vec::new(),
    };
    if body.program.is_dynamic && body.program.is_entry(wanted.op) {
        body.given = signature(wanted.op).1;
    }
    for value in &parameters {
        let register = body.code.fresh();
        body.registers.insert(key(*value), register);
    }
    body.check_parameters(&parameters)?;
    body.block(block, &To::Return, &parameters, Runs::Once)?;
    Ok(body.code.finish(wanted.name.clone(), parameters.len() as u32))
}

fn refuse_depth(function: Op) -> Result<(), PassError> {
    let mut level = vec![function];
    for _ in 0..MOST_DEPTH {
        let regions = level.iter().flat_map(|op| (0..op.region_count()).filter_map(|i| op.body(i)));
        level = regions.flat_map(ops_in).filter(|op| op.region_count() > 0).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    let why = format!("is nested more than {MOST_DEPTH} levels deep; move inner parts into functions");
    Err(level.first().map_or_else(|| PassError::at(function, &why), |op| PassError::at(*op, &why)))
}

impl<'c> Body<'_, 'c> {
    /// Lowers a block. `dying` are values of around that nobody needs afterwards: those it does not use are dropped first.
    pub fn block(
        &mut self,
        block: Block<'c>,
        to: &To,
        dying: &[Value<'c>],
        runs: Runs,
    ) -> Result<(), PassError<'c>> {
        let checked = self.checked.clone();
        let ops = ops_in(block);
        let Some((last, before)) = ops.split_last() else { return Ok(()) };
        let frame = Frame::of(&self.program.facts, &mut self.program.uses, block, &ops, runs);
        let unused: Vec<Value> = dying.iter().copied().filter(|v| !frame.uses(*v)).collect();
        self.frames.push(frame);
        unused.into_iter().for_each(|v| self.drop_value(v));
        let given = last.operand_values();
        // The registers of a loop's state hold the old state until the new one is known.
        if let (To::Registers(registers), Runs::Once | Runs::Test) = (to, runs) {
            self.prefer(before, &given, registers);
        }
        let ends = matches!(to, To::Return) && self.given.is_empty();
        let tail = ends.then(|| self.tail(before, &given)).flatten();
        for (at, op) in before.iter().enumerate() {
            self.at(at, *op);
            if tail == Some(at) {
                self.operation(*op, Some(&To::Return))?;
                self.frames.pop();
                self.checked = checked;
                return Ok(());
            }
            self.operation(*op, None)?;
        }
        self.at(before.len(), *last);
        self.give(*last, &given, to)?;
        self.frames.pop();
        // What was compared on one way was not on others.
        self.checked = checked;
        Ok(())
    }

    fn at(&mut self, at: usize, op: Op<'c>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = at;
        }
        self.code.place = name_of_location(op.location());
    }

    /// Values that are only made to be given are made in their place.
    fn prefer(&mut self, ops: &[Op<'c>], given: &[Value<'c>], registers: &[Register]) {
        let made: HashMap<usize, ()> =
            ops.iter().flat_map(|op| op.result_values()).map(|v| (key(v), ())).collect();
        for (value, register) in given.iter().zip(registers) {
            let once = given.iter().filter(|v| key(**v) == key(*value)).count() == 1;
            if once && made.contains_key(&key(*value)) {
                self.preferred.insert(key(*value), *register);
            }
        }
    }

    /// The place of the operation whose results are what the function gives, with nothing done after it.
    fn tail(&self, ops: &[Op<'c>], given: &[Value<'c>]) -> Option<usize> {
        let at = (0..ops.len()).rev().find(|i| !gives_known(&self.program.facts, ops[*i]))?;
        let op = ops[at];
        let results = op.result_values();
        let same = results.len() == given.len() && results.iter().zip(given).all(|(a, b)| key(*a) == key(*b));
        (same && self.may_end(op)).then_some(at)
    }

    /// Ends a block.
    fn give(&mut self, op: Op<'c>, given: &[Value<'c>], to: &To) -> Result<(), PassError<'c>> {
        match to {
            To::Return => {
                self.check_given(op, given)?;
                let taken = self.take_all(op, given)?;
                let value = match taken[..] {
                    [one] => one,
                    _ => {
                        let to = self.code.fresh();
                        self.code.emit(Instruction::Tuple { to, elements: taken.clone() });
                        taken.into_iter().for_each(|r| self.code.release(r));
                        to
                    }
                };
                self.code.emit(Instruction::Return { value });
                self.code.release(value);
            }
            To::Registers(registers) => {
                let taken = self.take_all(op, given)?;
                self.move_all(&taken, registers);
            }
        }
        Ok(())
    }

    /// Moves values to registers, all at once: a register may be both.
    pub fn move_all(&mut self, from: &[Register], to: &[Register]) {
        let mut from = from.to_vec();
        // A register of `to` may be free, when a loop has dropped what it held: it is no place to put something aside.
        let mut refused = Vec::new();
        for (source, target) in from.iter_mut().zip(to) {
            if source != target && to.contains(source) {
                let mut aside = self.code.fresh();
                while to.contains(&aside) {
                    refused.push(std::mem::replace(&mut aside, self.code.fresh()));
                }
                self.code.emit(Instruction::Move { to: aside, from: *source });
                *source = aside;
            }
        }
        refused.into_iter().for_each(|register| self.code.release(register));
        for (from, to) in from.into_iter().zip(to) {
            if from != *to {
                self.code.emit(Instruction::Move { to: *to, from });
                self.code.release(from);
            }
        }
    }

    /// True when a value is needed after the operation.
    pub fn needed(&self, value: Value<'c>) -> bool {
        is_needed(&self.frames, value)
    }

    /// The register of a value.
    pub fn register(&self, op: Op<'c>, value: Value<'c>) -> Result<Register, PassError<'c>> {
        let missing =
            || PassError::at(op, format!("uses a value of type {} that has no register", value.r#type()));
        self.registers.get(&key(value)).copied().ok_or_else(missing)
    }

    /// A register for a result.
    pub fn define(&mut self, value: Value<'c>) -> Register {
        let register = self.preferred.remove(&key(value)).unwrap_or_else(|| self.code.fresh());
        self.registers.insert(key(value), register);
        register
    }

    /// Drops a value, if it is there.
    pub fn drop_value(&mut self, value: Value<'c>) {
        if let Some(register) = self.registers.remove(&key(value)) {
            self.code.drop_register(register);
        }
    }

    /// Drops what nobody needs after an operation: of what it used, and of what it gave.
    pub fn settle(&mut self, op: Op<'c>) {
        let used = self.program.uses.of(&self.program.facts, op);
        for value in used.iter().copied().chain(op.result_values()) {
            if !self.needed(value) {
                self.drop_value(value);
            }
        }
    }

    /// Takes operands: what is needed afterwards, or stands in the list again, is copied.
    pub fn take_all(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<Vec<Register>, PassError<'c>> {
        self.take_keeping(op, operands, &[])
    }

    /// Takes operands, and copies of those that are to be kept.
    pub fn take_keeping(
        &mut self,
        op: Op<'c>,
        operands: &[Value<'c>],
        kept: &[Value<'c>],
    ) -> Result<Vec<Register>, PassError<'c>> {
        let mut left: HashMap<usize, usize> = HashMap::new();
        for value in operands.iter().flat_map(|v| self.program.facts.behind(*v)) {
            *left.entry(key(value)).or_default() += 1;
        }
        left.extend(kept.iter().map(|v| (key(*v), usize::MAX)));
        operands.iter().map(|v| self.take(op, *v, &mut left)).collect()
    }

    fn take(
        &mut self,
        op: Op<'c>,
        value: Value<'c>,
        left: &mut HashMap<usize, usize>,
    ) -> Result<Register, PassError<'c>> {
        let parts = match self.program.facts.known(value) {
            Known::Value(value) => return self.take_value(op, value, left),
            Known::Closure(closure) => self.program.facts.captures(closure).to_vec(),
            Known::Tuple(tuple) => tuple.operand_values(),
            Known::Constant(_) | Known::Function(_) => Vec::new(),
        };
        let parts = parts.into_iter().map(|part| self.take(op, part, left)).collect::<Result<Vec<_>, _>>()?;
        let to = self.code.fresh();
        let instruction = match self.program.facts.known(value) {
            Known::Constant(constant) => {
                Instruction::Constant { to, constant: self.program.constant(constant)? }
            }
            Known::Function(name) => {
                Instruction::Closure { to, function: self.program.named(op, name)?, captured: Vec::new() }
            }
            Known::Closure(closure) => {
                Instruction::Closure { to, function: self.program.closure(closure), captured: parts.clone() }
            }
            Known::Tuple(_) | Known::Value(_) => Instruction::Tuple { to, elements: parts.clone() },
        };
        self.code.emit(instruction);
        parts.into_iter().for_each(|part| self.code.release(part));
        Ok(to)
    }

    fn take_value(
        &mut self,
        op: Op<'c>,
        value: Value<'c>,
        left: &mut HashMap<usize, usize>,
    ) -> Result<Register, PassError<'c>> {
        let from = self.register(op, value)?;
        let again = left.get_mut(&key(value)).is_some_and(|left| {
            *left = left.saturating_sub(1);
            *left > 0
        });
        if again || self.needed(value) {
            let to = self.code.fresh();
            self.code.emit(Instruction::Copy { to, from });
            return Ok(to);
        }
        self.registers.remove(&key(value));
        Ok(from)
    }

    /// A register to look at a value in; `true` when it was made for that and must be dropped.
    pub fn look(&mut self, op: Op<'c>, value: Value<'c>) -> Result<(Register, bool), PassError<'c>> {
        match self.program.facts.known(value) {
            Known::Value(value) => Ok((self.register(op, value)?, false)),
            // Made of values that stay: copies of them.
            _ => {
                let mut left =
                    self.program.facts.behind(value).into_iter().map(|v| (key(v), usize::MAX)).collect();
                Ok((self.take(op, value, &mut left)?, true))
            }
        }
    }

    /// Lowers an operation; `end` when the function ends with what it gives.
    fn operation(&mut self, op: Op<'c>, end: Option<&To>) -> Result<(), PassError<'c>> {
        if gives_known(&self.program.facts, op) {
            self.check_ascribed(op);
            return Ok(());
        }
        match kind_of(op) {
            Some(Kind::Relay(relay::Op::If)) => self.branch(op, end),
            Some(Kind::Relay(relay::Op::Match)) => self.matching(op, end),
            Some(Kind::Relay(relay::Op::While)) => self.repeat(op),
            _ => self.simple(op, end.is_some()),
        }
    }
}
