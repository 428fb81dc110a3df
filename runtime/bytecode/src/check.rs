//! Whether a program keeps the rules of its instructions.
//!
//! Every function is walked once along its control flow with the set of registers that are full. A place that several ways lead to
//! has the same set on all of them, so it is walked on from once only:
//!
//! ```text
//!     JumpUnless c -> 7      {a, c} goes to 7 and to the next instruction
//!     ...                    Drop a, Drop c: {}
//!     Jump -> 7              {} at 7, where {a, c} was noted: an error
//! ```
//! What holds of values and not of registers (that a condition is a tensor, that a kernel's input has its type) is checked when
//! the program runs.

use crate::{Function, FunctionId, Instruction, Label, Program, Register, Use, ValueType};
use fusion_operators::ops;
use std::collections::HashSet;

/// Registers of a function, so that a file of few bytes cannot ask for much memory.
pub const MOST_REGISTERS: u32 = 1 << 20;

/// A program that does not keep the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// Something outside of functions is wrong.
    #[error("the program is malformed: {0}")]
    Program(String),
    /// A function is wrong as a whole.
    #[error("the program is malformed: function @{function} {why}")]
    Function {
        /// Its name.
        function: String,
        /// What is wrong with it.
        why: String,
    },
    /// An instruction is wrong.
    #[error("the program is malformed: function @{function}, instruction {index} ({instruction}): {why}")]
    Instruction {
        /// The function's name.
        function: String,
        /// The place of the instruction.
        index: usize,
        /// The instruction.
        instruction: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Program {
    /// Checks that the program keeps the rules, in time linear in its size.
    pub fn check(&self) -> Result<(), CheckError> {
        let wrong = |why: String| Err(CheckError::Program(why));
        let mut known = HashSet::new();
        if let Some(twice) = self.strings.iter().find(|string| !known.insert(string.as_str())) {
            return wrong(format!("the string {twice:?} stands twice in its list"));
        }
        for (id, kernel) in self.kernels.iter().enumerate() {
            if kernel.symbol.is_empty() || kernel.symbol.contains('\0') {
                return wrong(format!("the symbol {:?} of kernel {id} is none", kernel.symbol));
            }
            if let Some(shapes) = &kernel.shapes {
                shapes
                    .check(&kernel.inputs, &kernel.outputs)
                    .or_else(|why| wrong(format!("kernel {}: {why}", kernel.symbol)))?;
                continue;
            }
            if let Some(dynamic) = kernel.inputs.iter().chain(&kernel.outputs).find(|ty| ty.bytes().is_none())
            {
                return wrong(format!(
                    "kernel {} has a {dynamic}, but no shape function that says what its extents are",
                    kernel.symbol
                ));
            }
        }
        for data in &self.data {
            for constructor in &data.constructors {
                let fields = constructor.fields.iter();
                fields.clone().try_for_each(|ty| self.value_type(ty, data.parameters())).or_else(|why| {
                    wrong(format!("a field of its constructor {}::{} {why}", data.name, constructor.name))
                })?;
            }
        }
        for (name, ty) in &self.inputs {
            self.value_type(ty, 0).or_else(|why| wrong(format!("its input {name:?} {why}")))?;
        }
        for (name, range) in &self.ranges {
            if range.multiple == 0 || range.nearest(range.least).is_none() {
                return wrong(format!("its range of {name} has no sizes"));
            }
        }
        self.value_type(&self.output, 0).or_else(|why| wrong(format!("its output {why}")))?;
        match self.functions.get(self.entry as usize) {
            None => {
                return wrong(format!(
                    "it starts with function {}, but has {} functions",
                    self.entry,
                    self.functions.len()
                ));
            }
            Some(entry) if entry.parameters as usize != self.inputs.len() => {
                return wrong(format!(
                    "it has {} inputs, but its first function @{} takes {}",
                    self.inputs.len(),
                    entry.name,
                    entry.parameters
                ));
            }
            Some(_) => {}
        }
        self.functions.iter().try_for_each(|function| Walk::new(self, function)?.run())
    }

    fn value_type(&self, ty: &ValueType, parameters: usize) -> Result<(), String> {
        let mut left = vec![ty];
        while let Some(ty) = left.pop() {
            match ty {
                ValueType::Data(data, arguments) => {
                    let Some(declared) = self.data.get(*data as usize) else {
                        return Err(format!("is of data type {data}, but there are {}", self.data.len()));
                    };
                    let (needed, given) = (declared.parameters(), arguments.len());
                    if given < needed {
                        return Err(format!(
                            "is of {} with {given} types, but it takes {needed}",
                            declared.name
                        ));
                    }
                    left.extend(arguments);
                }
                ValueType::Tuple(elements) => left.extend(elements),
                ValueType::Cell(held) => left.push(held),
                ValueType::Parameter(place) if *place as usize >= parameters => {
                    return Err(format!(
                        "is of parameter {place} of a data type, where there are {parameters}"
                    ));
                }
                ValueType::Tensor(_) | ValueType::Function | ValueType::Parameter(_) => {}
            }
        }
        Ok(())
    }

    /// What an instruction names outside of its function, and that numbers of operands fit.
    fn names(&self, instruction: &Instruction) -> Result<(), String> {
        use Instruction as I;
        let index = |what: &str, at: u32, len: usize| match (at as usize) < len {
            true => Ok(at as usize),
            false => Err(format!("it names {what} {at}, but there are {len}")),
        };
        let number = |what: &str, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => Err(format!("{what} {expected}, but {found} are given")),
        };
        match instruction {
            I::Constant { constant, .. } => index("constant", *constant, self.constants.len()).map(drop),
            I::Kernel { kernel, inputs, outputs } => {
                let kernel = &self.kernels[index("kernel", *kernel, self.kernels.len())?];
                number(&format!("the inputs of {} are", kernel.symbol), kernel.inputs.len(), inputs.len())?;
                number(&format!("the outputs of {} are", kernel.symbol), kernel.outputs.len(), outputs.len())
            }
            I::Operator { operator, inputs, outputs, .. } => {
                let row = ops::named(operator).ok_or_else(|| format!("there is no operator {operator:?}"))?;
                let (least, most) = row.arity();
                match (least..=most).contains(&inputs.len()) && !outputs.is_empty() {
                    true => Ok(()),
                    false => Err(format!(
                        "relay.{operator} does not take {} operands and give {} results",
                        inputs.len(),
                        outputs.len()
                    )),
                }
            }
            I::Scalar { scalar, ty, result, inputs, .. } => {
                let name = scalar.operator().name;
                if !scalar.fits(*ty, *result) {
                    return Err(format!("there is no scalar {name} of {ty} that gives {result}"));
                }
                number(&format!("the operands of {name} are"), scalar.arity(), inputs.len())
            }
            I::CheckTypes { values, types } => number("the types are", types.len(), values.len()),
            I::Construct { data, tag, fields, .. } => {
                let data = &self.data[index("data type", *data, self.data.len())?];
                let constructor = &data.constructors[index("constructor", *tag, data.constructors.len())?];
                let what = format!("the fields of {} are", constructor.name);
                number(&what, constructor.fields.len(), fields.len())
            }
            I::Closure { function, captured, .. } => {
                let function = self.function(*function)?;
                match captured.len() <= function.parameters as usize {
                    true => Ok(()),
                    false => Err(format!(
                        "@{} takes {}, but {} are bound",
                        function.name,
                        function.parameters,
                        captured.len()
                    )),
                }
            }
            I::Call { function, arguments, .. } | I::TailCall { function, arguments } => {
                let function = self.function(*function)?;
                let what = format!("the parameters of @{} are", function.name);
                number(&what, function.parameters as usize, arguments.len())
            }
            I::Switch { targets, .. } if targets.is_empty() => Err("it goes nowhere".to_owned()),
            _ => Ok(()),
        }
    }

    fn function(&self, id: FunctionId) -> Result<&Function, String> {
        self.functions
            .get(id as usize)
            .ok_or_else(|| format!("it names function {id}, but there are {}", self.functions.len()))
    }
}

/// A walk through a function.
struct Walk<'a> {
    program: &'a Program,
    function: &'a Function,
    /// Registers that are full now.
    full: Vec<bool>,
    count: usize,
    /// For places that a jump leads to, the registers that are full there, once it is known.
    noted: Vec<Option<Vec<Register>>>,
    /// Places that are still to be walked on from.
    left: Vec<Label>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, function: &'a Function) -> Result<Self, CheckError> {
        let wrong = |why: String| Err(CheckError::Function { function: function.name.clone(), why });
        if function.registers > MOST_REGISTERS {
            return wrong(format!(
                "has {} registers, at most {MOST_REGISTERS} are allowed",
                function.registers
            ));
        }
        if function.parameters > function.registers {
            return wrong(format!(
                "has {} parameters, but only {} registers",
                function.parameters, function.registers
            ));
        }
        if !function.places.is_empty() && function.places.len() != function.code.len() {
            return wrong(format!(
                "has {} instructions, but {} places in the source",
                function.code.len(),
                function.places.len()
            ));
        }
        if function.code.last().is_none_or(Instruction::falls_through) {
            return wrong("does not end: nothing follows its last instruction".to_owned());
        }
        let mut full = vec![false; function.registers as usize];
        full[..function.parameters as usize].fill(true);
        let (noted, left) = (vec![None; function.code.len()], Vec::new());
        Ok(Walk { program, function, full, count: function.parameters as usize, noted, left })
    }

    fn run(mut self) -> Result<(), CheckError> {
        let code = &self.function.code;
        // Where several ways may meet.
        let mut joins = vec![false; code.len()];
        for (at, instruction) in code.iter().enumerate() {
            self.ranges(at, instruction)?;
            instruction.targets().iter().for_each(|&target| joins[target as usize] = true);
        }
        self.arrive(0, 0)?;
        while let Some(start) = self.left.pop() {
            self.restore(start);
            let mut at = start as usize;
            loop {
                self.operands(at, &code[at])?;
                code[at].targets().iter().try_for_each(|&target| self.arrive(at, target))?;
                if !code[at].falls_through() {
                    break;
                }
                at += 1;
                if joins[at] {
                    self.arrive(at - 1, at as Label)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Checks all that an instruction names.
    fn ranges(&self, at: usize, instruction: &Instruction) -> Result<(), CheckError> {
        let registers = self.function.registers;
        let mut outside = None;
        instruction.for_each_operand(|_, register| {
            outside = outside.or((register >= registers).then_some(register));
        });
        if let Some(register) = outside {
            let why = format!("it names register %{register}, but the function has {registers}");
            return Err(self.fault(at, why));
        }
        let code = self.function.code.len();
        if let Some(target) = instruction.targets().iter().find(|&&target| target as usize >= code) {
            let why = format!("it goes to {target}, but the function has {code} instructions");
            return Err(self.fault(at, why));
        }
        self.program.names(instruction).map_err(|why| self.fault(at, why))
    }

    /// Empties and fills registers as an instruction does.
    fn operands(&mut self, at: usize, instruction: &Instruction) -> Result<(), CheckError> {
        let (full, count) = (&mut self.full, &mut self.count);
        let mut wrong = None;
        instruction.for_each_operand(|kind, register| {
            let state = &mut full[register as usize];
            match (kind, *state) {
                (Use::LookedAt, true) => {}
                (Use::Taken, true) => {
                    *state = false;
                    *count -= 1;
                }
                (Use::Written, false) => {
                    *state = true;
                    *count += 1;
                }
                (kind, _) => wrong = wrong.or(Some((kind, register))),
            }
        });
        let why = match wrong {
            None if !instruction.ends_function() || self.count == 0 => return Ok(()),
            None => {
                let held = self.full.iter().position(|&full| full).unwrap_or(0);
                format!("the function ends while register %{held} holds a value")
            }
            Some((Use::Written, register)) => {
                format!("it writes register %{register}, which holds a value already")
            }
            Some((Use::Taken, register)) => format!("it takes register %{register}, which is empty"),
            Some((Use::LookedAt, register)) => format!("it looks at register %{register}, which is empty"),
        };
        Err(self.fault(at, why))
    }

    /// Notes what is full where a way leads to, or compares it with what other ways brought there.
    fn arrive(&mut self, from: usize, to: Label) -> Result<(), CheckError> {
        let Some(noted) = &self.noted[to as usize] else {
            let full = self.full.iter().enumerate().filter(|(_, full)| **full);
            self.noted[to as usize] = Some(full.map(|(register, _)| register as Register).collect());
            self.left.push(to);
            return Ok(());
        };
        if noted.len() == self.count && noted.iter().all(|&register| self.full[register as usize]) {
            return Ok(());
        }
        let fewer = noted.iter().find(|&&register| !self.full[register as usize]);
        let more = (0..self.function.registers)
            .find(|register| self.full[*register as usize] && noted.binary_search(register).is_err());
        let why = match (fewer, more) {
            (Some(register), _) => {
                format!("register %{register} is empty on this way to {to}, but holds a value on another")
            }
            (None, register) => format!(
                "register %{} holds a value on this way to {to}, but is empty on another",
                register.unwrap_or(0)
            ),
        };
        Err(self.fault(from, why))
    }

    /// Goes back to what was noted of a place.
    fn restore(&mut self, place: Label) {
        self.full.fill(false);
        let noted = self.noted[place as usize].as_deref().unwrap_or_default();
        noted.iter().for_each(|&register| self.full[register as usize] = true);
        self.count = noted.len();
    }

    fn fault(&self, at: usize, why: String) -> CheckError {
        let instruction = self.function.code[at].shown(Some(self.program)).to_string();
        CheckError::Instruction { function: self.function.name.clone(), index: at, instruction, why }
    }
}
