//! A module that is run: its functions are called with values.
//!
//! The machine has a stack of frames and one of registers, both on the heap, so the depth of a program's recursion is bounded by a
//! limit and not by the host's stack. A call in tail position takes the place of its caller in both, so a loop written as a
//! recursion runs in constant memory.

mod fits;
mod results;

use crate::code::Constructor;
use crate::code::{Code, Expect, Work};
use crate::compile::Symbols;
use crate::held::{Held, live_bytes};
use crate::value::{Closure, Value};
use crate::{InterpretError, Limits};
use fusion_dialects::Op;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

pub type Values<'c> = Vec<Value<'c>>;

/// Memory is compared with its limit once in so many steps.
const STEPS_BETWEEN_CHECKS: u64 = 256;

/// A module that is being run.
pub struct Interpreter<'c> {
    symbols: Symbols<'c>,
    codes: Vec<Option<Rc<Code<'c>>>>,
    limits: Limits,
    steps: u64,
    /// Bytes that were alive before.
    before: u64,
    cells: Vec<Weak<RefCell<Value<'c>>>>,
    prune_at: usize,
    /// The tensors that operations gave, in the order they ran, where somebody wants to see them. Calls in tail position
    /// keep their callers then.
    pub trace: Option<Vec<Traced<'c>>>,
}

/// A tensor that an operation gave.
pub struct Traced<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Which of its results it is.
    pub result: usize,
    /// The tensor.
    pub tensor: Rc<Held>,
}

/// A call that waits for another, or runs.
struct Frame<'c> {
    code: Rc<Code<'c>>,
    /// The line to run next.
    next: usize,
    /// Where its registers begin.
    base: usize,
    /// The named extents of its parameters, as far as they are known.
    extents: Vec<Option<u64>>,
}

/// What a line leads to.
enum Flow<'c> {
    Next,
    Go(usize),
    /// The arguments are in the machine's list.
    Enter {
        code: Rc<Code<'c>>,
        closure: Option<Rc<Closure<'c>>>,
        tail: bool,
    },
    Return,
}

impl<'c> Interpreter<'c> {
    /// For the functions and kernels of a module.
    pub fn new(module: Op<'c>, limits: Limits) -> Self {
        let symbols = Symbols::of(module);
        let codes = vec![None; symbols.bodies.len()];
        let (cells, prune_at) = (Vec::new(), 1024);
        Interpreter { symbols, codes, limits, steps: 0, before: live_bytes(), cells, prune_at, trace: None }
    }

    /// A constructor of a data type of the module.
    pub fn constructor(&self, data: &str, name: &str) -> Option<Rc<Constructor>> {
        self.symbols.constructors.get(&(data.to_owned(), name.to_owned())).cloned()
    }

    /// How many steps were run so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Calls a function or kernel.
    pub fn call(&mut self, name: &str, inputs: Values<'c>) -> Result<Values<'c>, InterpretError> {
        let number = self.symbols.functions.get(name).copied();
        let number = number.ok_or_else(|| InterpretError::NoFunction(name.to_owned()))?;
        let code = self.code(number)?;
        self.run(code, None, inputs)
    }

    /// Calls a function value.
    pub fn apply(&mut self, function: &Value<'c>, inputs: Values<'c>) -> Result<Values<'c>, InterpretError> {
        let Value::Closure(closure) = function else {
            return Err(InterpretError::NoFunction(function.what()));
        };
        let mut arguments = Vec::new();
        if closure.code.recursive {
            arguments.push(function.clone());
        }
        arguments.extend(inputs);
        self.run(closure.code.clone(), Some(closure.clone()), arguments)
    }

    /// Empties all cells that are still alive. Cells that hold functions that hold them would never be freed else.
    pub fn empty_cells(&mut self) {
        for cell in std::mem::take(&mut self.cells) {
            if let Some(cell) = cell.upgrade() {
                let held = cell.replace(Value::Unset);
                drop(held);
            }
        }
    }

    fn code(&mut self, number: usize) -> Result<Rc<Code<'c>>, InterpretError> {
        if let Some(code) = &self.codes[number] {
            return Ok(code.clone());
        }
        let code = Rc::new(self.symbols.compile(self.symbols.bodies[number], self.trace.is_none())?);
        self.codes[number] = Some(code.clone());
        Ok(code)
    }

    fn run(
        &mut self,
        code: Rc<Code<'c>>,
        closure: Option<Rc<Closure<'c>>>,
        mut arguments: Values<'c>,
    ) -> Result<Values<'c>, InterpretError> {
        let (mut registers, mut frames) = (Vec::new(), Vec::new());
        let mut frame = enter(&code, closure, &mut arguments, &mut registers)?;
        loop {
            let flow = self.line(&mut frame, &mut registers, &mut arguments)?;
            match flow {
                Flow::Next => frame.next += 1,
                Flow::Go(to) => frame.next = to,
                Flow::Enter { code, closure, tail } => {
                    let at = frame.code.lines[frame.next].op;
                    if tail {
                        registers.truncate(frame.base);
                    } else if frames.len() + 1 >= self.limits.depth as usize {
                        let message = format!("is inside {} calls, more are not allowed", self.limits.depth);
                        return Err(InterpretError::at(at, message));
                    }
                    let entered =
                        enter(&code, closure, &mut arguments, &mut registers).map_err(
                            |error| match error {
                                InterpretError::Operation { .. } => error,
                                other => InterpretError::at(at, format!("cannot call: {other}")),
                            },
                        )?;
                    let caller = std::mem::replace(&mut frame, entered);
                    if !tail {
                        frames.push(caller);
                    }
                }
                Flow::Return => {
                    let of = frame.code.lines[frame.next].op;
                    self.check(of, &frame.code.gives, &arguments, &mut frame.extents)?;
                    registers.truncate(frame.base);
                    let Some(caller) = frames.pop() else { return Ok(arguments) };
                    frame = caller;
                    let Frame { code, next, base, extents } = &mut frame;
                    let line = &code.lines[*next];
                    if arguments.len() != line.expects.len() {
                        let message = format!("gives {} values to {}", arguments.len(), line.expects.len());
                        return Err(InterpretError::at(line.op, message));
                    }
                    self.check(line.op, &line.expects, &arguments, extents)?;
                    let start = *base + line.result;
                    for (at, value) in arguments.drain(..).enumerate() {
                        self.note(line.op, at, &value);
                        registers[start + at] = value;
                    }
                    *next += 1;
                }
            }
        }
    }

    fn note(&mut self, op: Op<'c>, result: usize, value: &Value<'c>) {
        if let (Some(trace), Value::Tensor(tensor)) = (&mut self.trace, value) {
            trace.push(Traced { op, result, tensor: tensor.clone() });
        }
    }

    fn check(
        &self,
        op: Op<'c>,
        expects: &[Expect],
        values: &[Value<'c>],
        extents: &mut [Option<u64>],
    ) -> Result<(), InterpretError> {
        for (expect, value) in expects.iter().zip(values) {
            if !expect.fits(value, extents) {
                let message = format!("gives {}, its type is {}", value.what(), expect.text(extents));
                return Err(InterpretError::at(op, message));
            }
        }
        Ok(())
    }

    fn step(&mut self, op: Op<'c>, registers: usize) -> Result<(), InterpretError> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            let message = format!("is reached after {} steps, more are not allowed", self.limits.steps);
            return Err(InterpretError::at(op, message));
        }
        if self.steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            let frames = (registers * size_of::<Value>()) as u64;
            let bytes = live_bytes().saturating_sub(self.before) + frames;
            if bytes > self.limits.memory {
                let message = format!(
                    "is reached with {bytes} bytes of values, more than {} are not allowed",
                    self.limits.memory
                );
                return Err(InterpretError::at(op, message));
            }
        }
        Ok(())
    }

    /// Runs the next line of a frame.
    fn line(
        &mut self,
        frame: &mut Frame<'c>,
        registers: &mut Values<'c>,
        arguments: &mut Values<'c>,
    ) -> Result<Flow<'c>, InterpretError> {
        let Frame { code, next, base, extents } = frame;
        let line = &code.lines[*next];
        let own = &mut registers[*base..];
        let results = match &line.work {
            Work::Go(to) => return Ok(Flow::Go(*to)),
            Work::Unless(to) => {
                let taken = truth(line.op, &own[line.operands[0]])?;
                return Ok(if taken { Flow::Next } else { Flow::Go(*to) });
            }
            Work::Case { pattern, otherwise } => {
                arguments.clear();
                if !pattern.fits(&own[line.operands[0]], arguments) {
                    return Ok(Flow::Go(*otherwise));
                }
                for (at, value) in arguments.drain(..).enumerate() {
                    own[line.result + at] = value;
                }
                return Ok(Flow::Next);
            }
            Work::Unmatched => {
                let found = own[line.operands[0]].what();
                let message = format!("has no clause that fits {found}; add a clause \"_\"");
                return Err(InterpretError::at(line.op, message));
            }
            Work::Iterate => {
                let count = registers.len();
                self.step(line.op, count)?;
                return Ok(Flow::Next);
            }
            Work::Return => {
                arguments.clear();
                arguments.extend(line.operands.iter().map(|r| std::mem::replace(&mut own[*r], Value::Unset)));
                // A register that is given twice was emptied the first time.
                for at in 1..line.operands.len() {
                    if let Some(first) = line.operands[..at].iter().position(|r| *r == line.operands[at]) {
                        arguments[at] = arguments[first].clone();
                    }
                }
                return Ok(Flow::Return);
            }
            Work::Call { callee, tail } => {
                arguments.clear();
                arguments.extend(line.operands.iter().map(|r| own[*r].clone()));
                let (op, count, tail) = (line.op, registers.len(), *tail);
                let code = self.code(*callee).map_err(|error| match error {
                    InterpretError::Operation { .. } => error,
                    other => InterpretError::at(op, format!("cannot call: {other}")),
                })?;
                self.step(op, count)?;
                return Ok(Flow::Enter { code, closure: None, tail });
            }
            Work::Apply { tail } => {
                let Value::Closure(closure) = &own[line.operands[0]] else {
                    let found = own[line.operands[0]].what();
                    return Err(InterpretError::at(line.op, format!("cannot be computed of {found}")));
                };
                let closure = closure.clone();
                let first = if closure.code.recursive { 0 } else { 1 };
                arguments.clear();
                arguments.extend(line.operands[first..].iter().map(|r| own[*r].clone()));
                let (op, count, tail) = (line.op, registers.len(), *tail);
                self.step(op, count)?;
                return Ok(Flow::Enter { code: closure.code.clone(), closure: Some(closure), tail });
            }
            Work::Move => {
                arguments.clear();
                arguments.extend(line.operands.iter().map(|r| own[*r].clone()));
                None
            }
            work => Some(self.results(work, line, (code, extents), own, arguments)?),
        };
        match results {
            Some(Some(value)) => {
                self.step(line.op, registers.len())?;
                self.check(line.op, &line.expects, std::slice::from_ref(&value), extents)?;
                self.note(line.op, 0, &value);
                registers[*base + line.result] = value;
            }
            Some(None) | None => {
                if results.is_some() {
                    self.step(line.op, registers.len())?;
                }
                self.check(line.op, &line.expects, arguments, extents)?;
                for (at, value) in arguments.drain(..).enumerate() {
                    self.note(line.op, at, &value);
                    registers[*base + line.result + at] = value;
                }
            }
        }
        Ok(Flow::Next)
    }
}

/// Begins a call; takes the arguments out of their list.
fn enter<'c>(
    code: &Rc<Code<'c>>,
    closure: Option<Rc<Closure<'c>>>,
    arguments: &mut Values<'c>,
    registers: &mut Values<'c>,
) -> Result<Frame<'c>, InterpretError> {
    let mut extents = vec![None; code.extents];
    let fits = code.takes.len() == arguments.len()
        && code.takes.iter().zip(arguments.iter()).all(|(expect, value)| expect.fits(value, &mut extents));
    if !fits {
        let expected: Vec<_> = code.takes.iter().map(|e| e.text(&[])).collect();
        let found: Vec<_> = arguments.iter().map(Value::what).collect();
        return Err(InterpretError::Inputs {
            function: code.name.clone(),
            expected: format!("({})", expected.join(", ")),
            found: format!("({})", found.join(", ")),
        });
    }
    let base = registers.len();
    registers.append(arguments);
    if let Some(closure) = closure {
        registers.extend(closure.captured.iter().cloned());
    }
    registers.resize(base + code.registers, Value::Unset);
    Ok(Frame { code: code.clone(), next: 0, base, extents })
}

fn truth<'c>(op: Op<'c>, value: &Value<'c>) -> Result<bool, InterpretError> {
    match value {
        Value::Tensor(tensor) if tensor.len() == 1 => Ok(tensor.int_at(0) != 0),
        other => Err(InterpretError::at(op, format!("takes a condition, found {}", other.what()))),
    }
}
