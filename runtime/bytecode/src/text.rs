//! Programs as text, to be read by people. `docs/bytecode.md` explains the form.
//!
//! ```text
//!   function @length(%0, %1) 5 registers
//!      0: switch %0 [6, 1]              // list.relay:4:3
//!      1: %2 = field %0.1
//!      2: drop %0!
//! ```
//! `!` marks an operand that is taken.

use crate::{Function, Instruction, Program, Register, Shapes, ValueType};
use fusion_operators::Attr;
use fusion_operators::value::tensor_text;
use std::fmt::{self, Display, Formatter};

/// An instruction with the names of what it refers to, as far as a program has them.
pub struct Shown<'a> {
    instruction: &'a Instruction,
    program: Option<&'a Program>,
}

impl Instruction {
    /// The instruction as text; names come from the program.
    pub fn shown<'a>(&'a self, program: Option<&'a Program>) -> Shown<'a> {
        Shown { instruction: self, program }
    }
}

/// Texts in a row.
struct Joined<I>(I);

impl<T: Display, I: Iterator<Item = T> + Clone> Display for Joined<I> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.0.clone().enumerate().try_for_each(|(i, item)| {
            f.write_str(if i > 0 { ", " } else { "" })?;
            write!(f, "{item}")
        })
    }
}

/// A register.
struct Reg(Register);

impl Display for Reg {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// A register that is taken.
struct Taken(Register);

impl Display for Taken {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "%{}!", self.0)
    }
}

fn looked_at(registers: &[Register]) -> impl Display {
    Joined(registers.iter().copied().map(Reg))
}

fn taken(registers: &[Register]) -> impl Display {
    Joined(registers.iter().copied().map(Taken))
}

impl Shown<'_> {
    fn function(&self, id: u32) -> String {
        let name = self.program.and_then(|p| p.functions.get(id as usize)).map(|f| f.name.as_str());
        name.map_or_else(|| format!("@{id}"), |name| format!("@{name}"))
    }

    fn kernel(&self, id: u32) -> String {
        let name = self.program.and_then(|p| p.kernels.get(id as usize)).map(|k| k.symbol.as_str());
        name.map_or_else(|| format!("@{id}"), |name| format!("@{name}"))
    }

    fn constructor(&self, data: u32, tag: u32) -> String {
        let ty = self.program.and_then(|p| p.data.get(data as usize));
        let constructor = ty.and_then(|ty| Some((ty, ty.constructors.get(tag as usize)?)));
        constructor.map_or_else(|| format!("@{data}::{tag}"), |(ty, c)| format!("@{}::{}", ty.name, c.name))
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        use Instruction as I;
        match self.instruction.results() {
            [] => {}
            results => write!(f, "{} = ", looked_at(results))?,
        }
        match self.instruction {
            I::Constant { constant, .. } => write!(f, "constant #{constant}"),
            I::Kernel { kernel, inputs, .. } => {
                write!(f, "kernel {}({})", self.kernel(*kernel), looked_at(inputs))
            }
            I::Operator { operator, attributes, inputs, .. } => {
                write!(f, "operator {operator}({})", looked_at(inputs))?;
                if attributes.is_empty() {
                    return Ok(());
                }
                let shown = attributes.iter().map(|(name, value)| format!("{name} = {}", attribute(value)));
                write!(f, " {{{}}}", Joined(shown.collect::<Vec<_>>().iter()))
            }
            I::CheckTypes { values, types } => {
                let pairs = values.iter().zip(types).map(|(value, ty)| format!("%{value}: {ty}"));
                write!(f, "check-types {}", Joined(pairs.collect::<Vec<_>>().iter()))
            }
            I::Copy { from, .. } => write!(f, "copy %{from}"),
            I::Move { from, .. } => write!(f, "move %{from}!"),
            I::Drop { value } => write!(f, "drop %{value}!"),
            I::Tuple { elements, .. } => write!(f, "tuple({})", taken(elements)),
            I::Construct { data, tag, fields, .. } => {
                write!(f, "construct {}({})", self.constructor(*data, *tag), taken(fields))
            }
            I::Field { from, index, .. } => write!(f, "field %{from}.{index}"),
            I::Closure { function, captured, .. } => {
                write!(f, "closure {}({})", self.function(*function), taken(captured))
            }
            I::Call { function, arguments, .. } => {
                write!(f, "call {}({})", self.function(*function), taken(arguments))
            }
            I::Apply { closure, arguments, .. } => write!(f, "apply %{closure}!({})", taken(arguments)),
            I::TailCall { function, arguments } => {
                write!(f, "tail-call {}({})", self.function(*function), taken(arguments))
            }
            I::TailApply { closure, arguments } => write!(f, "tail-apply %{closure}!({})", taken(arguments)),
            I::Return { value } => write!(f, "return %{value}!"),
            I::Jump { target } => write!(f, "jump {target}"),
            I::JumpUnless { condition, target } => write!(f, "jump-unless %{condition}, {target}"),
            I::Switch { value, targets } => write!(f, "switch %{value} [{}]", Joined(targets.iter())),
            I::NewCell { value, .. } => write!(f, "new-cell %{value}!"),
            I::ReadCell { cell, .. } => write!(f, "read-cell %{cell}"),
            I::WriteCell { cell, value } => write!(f, "write-cell %{cell}, %{value}!"),
            I::Fail { message } => write!(f, "fail {message:?}"),
        }
    }
}

fn attribute(value: &Attr) -> String {
    match value {
        Attr::Int(value) => value.to_string(),
        Attr::Float(value) => format!("{value:?}"),
        Attr::Bool(value) => value.to_string(),
        Attr::Str(value) => format!("{value:?}"),
        Attr::Ints(values) => format!("{values:?}"),
        Attr::Floats(values) => format!("{values:?}"),
        Attr::Type(value) => value.to_string(),
    }
}

impl Program {
    /// A type with the names of data types.
    pub fn type_text(&self, ty: &ValueType) -> String {
        let all =
            |types: &[ValueType]| types.iter().map(|ty| self.type_text(ty)).collect::<Vec<_>>().join(", ");
        match ty {
            ValueType::Tensor(ty) => ty.to_string(),
            ValueType::Tuple(elements) => format!("({})", all(elements)),
            ValueType::Data(data, arguments) => {
                let name = self.data.get(*data as usize).map_or("?", |data| &data.name);
                let arguments =
                    if arguments.is_empty() { String::new() } else { format!("[{}]", all(arguments)) };
                format!("{name}{arguments}")
            }
            ValueType::Cell(held) => format!("ref({})", self.type_text(held)),
            ValueType::Function => "function".to_owned(),
        }
    }

    fn write_function(&self, f: &mut Formatter, function: &Function) -> fmt::Result {
        let parameters = Joined((0..function.parameters).map(Reg));
        writeln!(f, "function @{}({parameters}) {} registers", function.name, function.registers)?;
        for (at, instruction) in function.code.iter().enumerate() {
            let text = instruction.shown(Some(self)).to_string();
            match function.places.get(at).filter(|place| !place.is_empty()) {
                Some(place) => writeln!(f, "{at:4}: {text:<40} // {place}")?,
                None => writeln!(f, "{at:4}: {text}")?,
            }
        }
        Ok(())
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for data in &self.data {
            let constructors = data.constructors.iter().map(|c| match c.fields {
                0 => c.name.clone(),
                fields => format!("{}/{fields}", c.name),
            });
            writeln!(f, "data @{} {{{}}}", data.name, Joined(constructors.collect::<Vec<_>>().iter()))?;
        }
        for (id, constant) in self.constants.iter().enumerate() {
            // Weights are many; who wants them all reads the model.
            match constant.len() {
                0..=16 => writeln!(f, "constant #{id} = {}", tensor_text(constant))?,
                _ => writeln!(
                    f,
                    "constant #{id} = {} of {} bytes",
                    constant.tensor_type(),
                    constant.bytes().len()
                )?,
            }
        }
        for kernel in &self.kernels {
            let (inputs, outputs) = (Joined(kernel.inputs.iter()), Joined(kernel.outputs.iter()));
            let workspace = kernel.workspace_bytes;
            writeln!(f, "kernel @{}({inputs}) -> ({outputs}) {workspace} bytes of workspace", kernel.symbol)?;
            let Some(shapes) = &kernel.shapes else { continue };
            for (number, step) in shapes.steps.iter().enumerate() {
                writeln!(f, "  {} = {step}", Shapes::name(number as u32))?;
            }
            for temporary in &shapes.temporaries {
                writeln!(f, "  temporary {temporary}")?;
            }
        }
        let inputs = self.inputs.iter().map(|(name, ty)| format!("{name}: {}", self.type_text(ty)));
        let entry = self.functions.get(self.entry as usize).map_or("?", |function| &function.name);
        let inputs = inputs.collect::<Vec<_>>();
        writeln!(f, "entry @{entry}({}) -> {}", Joined(inputs.iter()), self.type_text(&self.output))?;
        for function in &self.functions {
            writeln!(f)?;
            self.write_function(f, function)?;
        }
        Ok(())
    }
}
