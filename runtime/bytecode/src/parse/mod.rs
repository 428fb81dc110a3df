//! Programs from their text.
//!
//! ```text
//!   lines --names of functions, kernels, data--> numbers --each line (instruction.rs, words.rs)--> Program
//! ```
//! What [`Program`]'s `{:#}` writes is read back. Lines may come in any order but for the instructions of a function, which follow
//! its head; blank lines and lines of a comment are skipped. Kernels of dynamic extents, which have shape functions, are refused. Whether the program keeps the rules, [`Program::check`] says.

mod instruction;
mod words;

use crate::{Constructor, DataType, Function, Kernel, Program, ValueType};
use fusion_operators::{Item, Tensor, ValueTree};
use std::collections::HashMap;
use words::Words;

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// Reading, or why it cannot go on.
type Read<T> = Result<T, TextError>;

/// Numbers of functions, kernels or data types, by what they are called in the text.
#[derive(Default)]
struct Numbers {
    by_name: HashMap<(String, Option<u32>), u32>,
}

impl Numbers {
    /// The next one is called so.
    fn add(&mut self, words: &Words, name: (String, Option<u32>)) -> Read<()> {
        let next = self.by_name.len() as u32;
        if let Some(written) = name.1.filter(|written| *written != next) {
            return words.wrong(format!("this is number {next}, not #{written}"));
        }
        match self.by_name.insert(name, next) {
            None => Ok(()),
            Some(_) => words.wrong("this name is there already; write NAME#NUMBER where several have it"),
        }
    }
}

/// What the text declares.
#[derive(Default)]
struct Names {
    functions: Numbers,
    kernels: Numbers,
    data: Numbers,
    constructors: Vec<Vec<Constructor>>,
}

impl Program {
    /// Reads a program that was written with `{:#}`.
    pub fn parse(text: &str) -> Result<Program, TextError> {
        let lines = || text.lines().enumerate().map(|(number, line)| Words::new(line, number + 1));
        let mut names = Names::default();
        let mut program = Program::default();
        for mut words in lines() {
            match words.word().as_str() {
                "data" => {
                    let name = words.symbol()?;
                    names.data.add(&words, name)?;
                }
                "kernel" => names.kernels.add(&words.clone(), words.symbol()?)?,
                "function" => names.functions.add(&words.clone(), words.symbol()?)?,
                _ => {}
            }
        }
        // Instructions name constructors, and fields data types that may come later.
        for mut words in lines() {
            if words.word() == "data" {
                let (name, _) = words.symbol()?;
                let field = |words: &mut Words| words.value_type(&names, 0);
                let constructors = words.list('{', '}', |words| {
                    let name = words.name()?;
                    let fields =
                        if words.begins_with("(") { words.list('(', ')', field)? } else { Vec::new() };
                    Ok(Constructor { name, fields })
                })?;
                words.end()?;
                names.constructors.push(constructors.clone());
                program.data.push(DataType { name, constructors });
            }
        }
        let mut entry = None;
        for mut words in lines() {
            if words.is_over() {
                continue;
            }
            if words.begins_with_digit() {
                let Some(function) = program.functions.last_mut() else {
                    return words.wrong("an instruction stands before the first function");
                };
                line_of(&mut words, function, &names)?;
                continue;
            }
            let at = words.clone();
            match words.word().as_str() {
                "data" => {}
                "string" => {
                    words.expect("#")?;
                    let (next, id) = (program.strings.len(), words.number::<usize>()?);
                    if id != next {
                        return words.wrong(format!("this is string #{next}, not #{id}"));
                    }
                    words.expect("=")?;
                    program.strings.push(words.quoted()?);
                    words.end()?;
                }
                "constant" => {
                    words.expect("#")?;
                    let (next, id) = (program.constants.len(), words.number::<usize>()?);
                    if id != next {
                        return words.wrong(format!("this is constant #{next}, not #{id}"));
                    }
                    words.expect("=")?;
                    program.constants.push(constant(&mut words)?);
                }
                "kernel" => {
                    let symbol = words.symbol()?.0;
                    let inputs = words.list('(', ')', Words::tensor_type)?;
                    words.expect("->")?;
                    let outputs = words.list('(', ')', Words::tensor_type)?;
                    let workspace_bytes = words.number()?;
                    for word in ["bytes", "of", "workspace"] {
                        words.expect(word)?;
                    }
                    words.end()?;
                    let shapes = None;
                    program.kernels.push(Kernel { symbol, inputs, outputs, workspace_bytes, shapes });
                }
                "range" => {
                    let name = words.name()?;
                    words.expect("=")?;
                    let range = words.rest().parse().or_else(|why: String| words.wrong(why))?;
                    program.ranges.push((name, range));
                }
                "entry" => {
                    program.entry = words.known(&names.functions, "function")?;
                    program.inputs = words.list('(', ')', |words| {
                        let name = words.name()?;
                        words.expect(":")?;
                        Ok((name, words.value_type(&names, 0)?))
                    })?;
                    words.expect("->")?;
                    program.output = words.value_type(&names, 0)?;
                    words.end()?;
                    if entry.replace(()).is_some() {
                        return at.wrong("the program starts twice");
                    }
                }
                "function" => {
                    let name = words.symbol()?.0;
                    let parameters = words.list('(', ')', Words::register)?;
                    if !parameters.iter().copied().eq(0..parameters.len() as u32) {
                        return words.wrong("parameters are the first registers, %0, %1, ...");
                    }
                    let registers = words.number()?;
                    words.expect("registers")?;
                    words.end()?;
                    let parameters = parameters.len() as u32;
                    program.functions.push(Function { name, parameters, registers, ..Function::default() });
                }
                word if at.is_indented() => {
                    let what =
                        format!("{word} is of the shape function of a kernel, which is not read from text");
                    return at.wrong(what);
                }
                word => {
                    let found = if word.is_empty() { "nothing that is known" } else { word };
                    let expected = "data, string, constant, kernel, range, entry, function or the number of an instruction";
                    return at.wrong(format!("a line begins with {expected}, found {found}"));
                }
            }
        }
        match entry {
            Some(()) => Ok(program),
            None => Words::new("", text.lines().count().max(1))
                .wrong("the program has no line entry @FUNCTION(INPUT: TYPE, ...) -> TYPE"),
        }
    }
}

/// An instruction with its number and its place in the source.
fn line_of(words: &mut Words, function: &mut Function, names: &Names) -> Read<()> {
    let next = function.code.len();
    let number: usize = words.number()?;
    if number != next {
        return words.wrong(format!("this is instruction {next} of @{}, not {number}", function.name));
    }
    words.expect(":")?;
    function.code.push(instruction::instruction(words, names)?);
    let place = words.comment()?;
    if place.is_some() && function.places.is_empty() {
        function.places.resize(next, String::new());
    }
    if place.is_some() || !function.places.is_empty() {
        function.places.push(place.unwrap_or_default());
    }
    Ok(())
}

/// A tensor: its type, then its elements or its bytes.
fn constant(words: &mut Words) -> Read<Tensor> {
    let start = words.clone();
    let ty = words.tensor_type()?;
    if words.eat("0x") {
        let digits = words.word();
        words.end()?;
        let bytes: Option<Vec<u8>> = digits
            .as_bytes()
            .chunks(2)
            .map(|pair| {
                u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok().filter(|_| pair.len() == 2)
            })
            .collect();
        let shape: Option<Vec<usize>> =
            ty.dims.iter().map(|dim| dim.known().and_then(|n| usize::try_from(n).ok())).collect();
        let (Some(bytes), Some(shape)) = (bytes, shape) else {
            return start.wrong("the bytes of a constant are pairs of hexadecimal digits, its extents known");
        };
        return Tensor::from_bytes(ty.dtype, &shape, bytes).or_else(|error| start.wrong(error.to_string()));
    }
    if words.eat("of") {
        return start.wrong("the elements of this constant are left out; print the program in full");
    }
    let value = ValueTree::parse(start.rest());
    let value = value.or_else(|error| start.wrong_behind(error.column - 1, error.message))?;
    match value.items.into_iter().next() {
        Some(Item::Tensor(tensor)) => Ok(tensor),
        _ => start.wrong("a constant is a tensor"),
    }
}

impl Words<'_> {
    /// The type of an input, an output or a field.
    fn value_type(&mut self, names: &Names, depth: usize) -> Read<ValueType> {
        if depth > 64 {
            return self.wrong("the type is nested too deep");
        }
        let inner = |words: &mut Self| words.value_type(names, depth + 1);
        if self.begins_with("(") {
            return Ok(ValueType::Tuple(self.list('(', ')', inner)?));
        }
        if self.begins_with("tensor<") {
            return Ok(ValueType::Tensor(self.tensor_type()?));
        }
        if self.eat("ref(") {
            let held = inner(self)?;
            self.expect(")")?;
            return Ok(ValueType::Cell(Box::new(held)));
        }
        if self.clone().word() == "function" {
            self.word();
            return Ok(ValueType::Function);
        }
        if self.eat("%") {
            return Ok(ValueType::Parameter(self.number()?));
        }
        let data = self.known_name(&names.data, "data type")?;
        let arguments = if self.begins_with("[") { self.list('[', ']', inner)? } else { Vec::new() };
        Ok(ValueType::Data(data, arguments))
    }
}
