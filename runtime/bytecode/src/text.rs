//! Programs as text, to be read by people. `docs/reference/bytecode.md` explains the form.
//!
//! ```text
//!   function @length(%0, %1) 5 registers
//!      0: switch %0 [6, 1]              // list.relay:4:3
//!      1: %2 = field %0.1
//!      2: drop %0!
//! ```
//! `!` marks an operand that is taken. In the alternate form (`{:#}`) large constants have their bytes, and [`Program::parse`]
//! gives the program back.

use crate::{DataType, Function, Instruction, Program, Register, Shapes, ValueType};
use fusion_operators::value::{tensor_text, whole_text};
use fusion_operators::{Attr, DType, Dim, Tensor, TensorType};
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

/// An instruction with the names of what it refers to, as far as a program has them.
pub struct Shown<'a> {
    instruction: &'a Instruction,
    program: Option<&'a Program>,
    /// Names that several have, each with its number behind it.
    several: Option<&'a Several<'a>>,
}

/// Names that several functions, kernels or data types have.
#[derive(Default)]
struct Several<'a> {
    functions: HashSet<&'a str>,
    kernels: HashSet<&'a str>,
    data: HashSet<&'a str>,
}

impl<'a> Several<'a> {
    fn of(program: &'a Program) -> Several<'a> {
        fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> HashSet<&'a str> {
            let mut seen = HashSet::new();
            names.filter(|name| !seen.insert(*name)).collect()
        }
        Several {
            functions: repeated(program.functions.iter().map(|f| f.name.as_str())),
            kernels: repeated(program.kernels.iter().map(|k| k.symbol.as_str())),
            data: repeated(program.data.iter().map(|d| d.name.as_str())),
        }
    }
}

/// True for characters of names that are written without quotes.
pub(crate) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// A name, in quotes where it is no plain word.
fn word(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_plain) { name.to_owned() } else { format!("{name:?}") }
}

/// A name with its number where several have it.
fn numbered(name: &str, id: u32, several: Option<&HashSet<&str>>) -> String {
    match several.is_some_and(|several| several.contains(name)) {
        true => format!("{}#{id}", word(name)),
        false => word(name),
    }
}

/// Words that types begin with; a data type of such a name stands in quotes.
pub(crate) const TYPE_WORDS: [&str; 3] = ["tensor", "ref", "function"];

/// A tensor type whose extents can be told apart: names that could be taken for something else are in quotes.
fn tensor_type(ty: &TensorType) -> String {
    let extent = |dim: &Dim| match dim {
        Dim::Symbol(name) => {
            let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c != 'x' && (c.is_ascii_alphanumeric() || c == '_'));
            if plain { format!("{name}x") } else { format!("{name:?}x") }
        }
        Dim::Expr(expression) => format!("\"{expression}\"x"),
        dim => format!("{dim}x"),
    };
    format!("tensor<{}{}>", ty.dims.iter().map(extent).collect::<String>(), ty.dtype)
}

impl Instruction {
    /// The instruction as text; names come from the program.
    pub fn shown<'a>(&'a self, program: Option<&'a Program>) -> Shown<'a> {
        Shown { instruction: self, program, several: None }
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
        let several = self.several.map(|several| &several.functions);
        name.map_or_else(|| format!("@{id}"), |name| format!("@{}", numbered(name, id, several)))
    }

    fn kernel(&self, id: u32) -> String {
        let name = self.program.and_then(|p| p.kernels.get(id as usize)).map(|k| k.symbol.as_str());
        let several = self.several.map(|several| &several.kernels);
        name.map_or_else(|| format!("@{id}"), |name| format!("@{}", numbered(name, id, several)))
    }

    fn constructor(&self, data: u32, tag: u32) -> String {
        let ty = self.program.and_then(|p| p.data.get(data as usize));
        let constructor = ty.and_then(|ty| Some((ty, ty.constructors.get(tag as usize)?)));
        let several = self.several.map(|several| &several.data);
        constructor.map_or_else(
            || format!("@{data}::{tag}"),
            |(ty, c)| format!("@{}::{}", numbered(&ty.name, data, several), word(&c.name)),
        )
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
            I::Scalar { scalar, ty, result, inputs, .. } => {
                write!(f, "scalar {} {ty}({}) -> {result}", scalar.operator().name, looked_at(inputs))
            }
            I::Operator { operator, attributes, inputs, .. } => {
                write!(f, "operator {}({})", word(operator), looked_at(inputs))?;
                if attributes.is_empty() {
                    return Ok(());
                }
                let shown =
                    attributes.iter().map(|(name, value)| format!("{} = {}", word(name), attribute(value)));
                write!(f, " {{{}}}", Joined(shown.collect::<Vec<_>>().iter()))
            }
            I::CheckTypes { values, types } => {
                let pairs =
                    values.iter().zip(types).map(|(value, ty)| format!("%{value}: {}", tensor_type(ty)));
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

/// A type with the names of data types.
pub(crate) fn type_text(data: &[DataType], ty: &ValueType) -> String {
    typed(data, ty, &Several::default())
}

fn typed(all: &[DataType], ty: &ValueType, several: &Several) -> String {
    match ty {
        ValueType::Tensor(ty) => tensor_type(ty),
        ValueType::Tuple(elements) => format!("({})", typed_all(all, elements, several)),
        ValueType::Data(data, arguments) => {
            let name = all.get(*data as usize).map_or("?", |data| &data.name);
            let name = match TYPE_WORDS.contains(&name) {
                true => format!("{name:?}"),
                false => numbered(name, *data, Some(&several.data)),
            };
            match &arguments[..] {
                [] => name,
                arguments => format!("{name}[{}]", typed_all(all, arguments, several)),
            }
        }
        ValueType::Cell(held) => format!("ref({})", typed(all, held, several)),
        ValueType::Function => "function".to_owned(),
        ValueType::Parameter(place) => format!("%{place}"),
    }
}

fn typed_all(all: &[DataType], types: &[ValueType], several: &Several) -> String {
    types.iter().map(|ty| typed(all, ty, several)).collect::<Vec<_>>().join(", ")
}

fn attribute(value: &Attr) -> String {
    match value {
        Attr::Int(value) => value.to_string(),
        Attr::Float(value) => format!("{value:?}"),
        Attr::Bool(value) => value.to_string(),
        Attr::Str(value) => format!("{value:?}"),
        Attr::Ints(values) => format!("{values:?}"),
        Attr::Dim(dim) => format!("dim<\"{dim}\">"),
        Attr::Dims(dims) => format!("dims<{:?}>", dims.iter().map(ToString::to_string).collect::<Vec<_>>()),
        // An empty list is one of integers.
        Attr::Floats(values) if values.is_empty() => "[.]".to_owned(),
        Attr::Floats(values) => format!("{values:?}"),
        Attr::Type(value) => value.to_string(),
    }
}

impl Program {
    /// A type with the names of data types.
    pub fn type_text(&self, ty: &ValueType) -> String {
        type_text(&self.data, ty)
    }

    fn write_function(
        &self,
        f: &mut Formatter,
        id: u32,
        function: &Function,
        several: &Several,
    ) -> fmt::Result {
        let parameters = Joined((0..function.parameters).map(Reg));
        let name = numbered(&function.name, id, Some(&several.functions));
        writeln!(f, "function @{name}({parameters}) {} registers", function.registers)?;
        for (at, instruction) in function.code.iter().enumerate() {
            let shown = Shown { instruction, program: Some(self), several: Some(several) };
            let text = shown.to_string();
            match function.places.get(at).filter(|place| !place.is_empty()) {
                Some(place)
                    if place.starts_with('"') || place.trim() != place || place.contains(['\n', '\r']) =>
                {
                    writeln!(f, "{at:4}: {text:<40} // {place:?}")?;
                }
                Some(place) => writeln!(f, "{at:4}: {text:<40} // {place}")?,
                None => writeln!(f, "{at:4}: {text}")?,
            }
        }
        Ok(())
    }
}

/// A constant whose elements cannot be told from their digits: there are many, or some are no numbers.
fn wants_bytes(constant: &Tensor) -> bool {
    let numbers =
        || (0..constant.len()).all(|i| !constant.dtype().is_float() || !constant.f64_at(i).is_nan());
    constant.dtype() != DType::String && (constant.len() > 16 || !numbers())
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let several = Several::of(self);
        for (id, data) in self.data.iter().enumerate() {
            let constructors = data.constructors.iter().map(|c| match &c.fields[..] {
                [] => word(&c.name),
                fields => format!("{}({})", word(&c.name), typed_all(&self.data, fields, &several)),
            });
            let name = numbered(&data.name, id as u32, Some(&several.data));
            writeln!(f, "data @{name} {{{}}}", Joined(constructors.collect::<Vec<_>>().iter()))?;
        }
        for (id, string) in self.strings.iter().enumerate() {
            writeln!(f, "string #{id} = {string:?}")?;
        }
        for (id, constant) in self.constants.iter().enumerate() {
            // Weights are many; who wants them all reads the model.
            if f.alternate() && wants_bytes(constant) {
                let bytes: String = constant.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(f, "constant #{id} = {} 0x{bytes}", constant.tensor_type())?;
            } else if f.alternate() {
                writeln!(f, "constant #{id} = {}", whole_text(constant))?;
            } else if constant.len() > 16 {
                let bytes = constant.bytes().len();
                writeln!(f, "constant #{id} = {} of {bytes} bytes", constant.tensor_type())?;
            } else {
                writeln!(f, "constant #{id} = {}", tensor_text(constant))?;
            }
        }
        for (id, kernel) in self.kernels.iter().enumerate() {
            let types = |types: &[TensorType]| types.iter().map(tensor_type).collect::<Vec<_>>().join(", ");
            let (inputs, outputs) = (types(&kernel.inputs), types(&kernel.outputs));
            let name = numbered(&kernel.symbol, id as u32, Some(&several.kernels));
            let workspace = kernel.workspace_bytes;
            writeln!(f, "kernel @{name}({inputs}) -> ({outputs}) {workspace} bytes of workspace")?;
            let Some(shapes) = &kernel.shapes else { continue };
            for (number, step) in shapes.steps.iter().enumerate() {
                writeln!(f, "  {} = {step}", Shapes::name(number as u32))?;
            }
            for temporary in &shapes.temporaries {
                writeln!(f, "  temporary {temporary}")?;
            }
        }
        for (name, range) in &self.ranges {
            writeln!(f, "range {} = {range}", word(name))?;
        }
        let inputs = self
            .inputs
            .iter()
            .map(|(name, ty)| format!("{}: {}", word(name), typed(&self.data, ty, &several)));
        let entry = self.functions.get(self.entry as usize);
        let entry = entry.map_or("?".to_owned(), |function| {
            numbered(&function.name, self.entry, Some(&several.functions))
        });
        let inputs = inputs.collect::<Vec<_>>();
        writeln!(
            f,
            "entry @{entry}({}) -> {}",
            Joined(inputs.iter()),
            typed(&self.data, &self.output, &several)
        )?;
        for (id, function) in self.functions.iter().enumerate() {
            writeln!(f)?;
            self.write_function(f, id as u32, function, &several)?;
        }
        Ok(())
    }
}
