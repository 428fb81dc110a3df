//! What the code refers to: constants and other values that lie in the library, messages, and the facts about the program that
//! `runtime/language/language.h` asks for.

use super::layout::{IMMORTAL, Kind, NO_CLASS, first_word, second_word};
use super::writer::Writer;
use super::{extents, held};
use fusion_bytecode::ranges::places;
use fusion_bytecode::{FunctionId, Program, ValueType};
use fusion_dialects::{
    Region, Type, Value, int_attr, int_elements, ints_attr, llvm_array, llvm_struct, str_attr, type_attr,
    unit_attr,
};
use fusion_operators::{DType, Dictionary, Dim, TensorType};
use indexmap::IndexSet;

/// The bytes of all constants.
const BYTES: &str = "fusion_constants";
/// Constants begin at multiples of this.
const ALIGNMENT: u64 = 64;

/// A value without parts that lies in the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fixed {
    /// A constant of the program.
    Constant(u32),
    /// A constructor without fields.
    Data(u16, u32),
    /// The empty tuple.
    Unit,
    /// A function that captures nothing.
    Function(FunctionId),
}

/// What has been referred to.
#[derive(Default)]
pub struct Globals {
    /// Bytes of `fusion_constants` that come before those of the program.
    before: u64,
    fixed: IndexSet<Fixed>,
    messages: IndexSet<String>,
    numbers: IndexSet<Vec<i64>>,
    /// Functions that are values, and how many arguments they have captured.
    pub applied: IndexSet<(FunctionId, u32)>,
}

/// The number of an element type.
pub fn number_of(dtype: DType) -> u16 {
    DType::ALL.iter().position(|&other| other == dtype).unwrap_or(0) as u16
}

/// The symbol of the function that a function value runs.
pub fn applied_symbol(function: FunctionId, captured: u32) -> String {
    format!("apply.{function}.{captured}")
}

impl Globals {
    /// None yet, with so many bytes of `fusion_constants` before those of the program.
    pub fn behind(before: u64) -> Self {
        Globals { before, ..Globals::default() }
    }

    /// The symbol of a value.
    pub fn fixed(&mut self, fixed: Fixed) -> String {
        if let Fixed::Function(function) = fixed {
            self.applied.insert((function, 0));
        }
        format!("value.{}", self.fixed.insert_full(fixed).0)
    }

    /// The symbol of a text that ends with NUL.
    pub fn message(&mut self, text: &str) -> String {
        format!("message.{}", self.messages.insert_full(text.replace('\0', " ")).0)
    }

    /// The symbol of a list of numbers.
    pub fn numbers(&mut self, numbers: Vec<i64>) -> String {
        format!("numbers.{}", self.numbers.insert_full(numbers).0)
    }

    /// Writes all of it.
    pub fn write(&self, writer: &Writer, program: &Program) -> Vec<u8> {
        let offsets = offsets(program, self.before);
        let size = offsets.last().map_or(self.before, |last| last.1);
        let all = llvm_array(writer.spelling.int8, u32::try_from(size).unwrap_or(u32::MAX));
        let attrs = [("alignment", int_attr(writer.build.context(), ALIGNMENT as i64))];
        global(writer, BYTES, all, true, &attrs, Region::new());
        for (i, fixed) in self.fixed.iter().enumerate() {
            self.write_fixed(writer, program, &offsets, &format!("value.{i}"), *fixed);
        }
        for (i, text) in self.messages.iter().enumerate() {
            let text = format!("{text}\0");
            let ty = llvm_array(writer.spelling.int8, text.len() as u32);
            let value = ("value", str_attr(writer.build.context(), &text));
            global(writer, &format!("message.{i}"), ty, false, &[value], Region::new());
        }
        for (i, list) in self.numbers.iter().enumerate() {
            write_numbers(writer, &format!("numbers.{i}"), list, false);
        }
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        let mut strings = Dictionary::of(program.strings.iter().map(String::as_str));
        for (tensor, (from, to)) in program.constants.iter().zip(&offsets) {
            let place = &mut bytes[*from as usize..*to as usize];
            match tensor.dtype() {
                DType::String => {
                    let numbers = strings.numbers(tensor).into_iter().flat_map(u64::to_le_bytes);
                    place.copy_from_slice(&numbers.collect::<Vec<u8>>());
                }
                _ => place.copy_from_slice(tensor.bytes()),
            }
        }
        bytes
    }

    fn write_fixed(
        &self,
        writer: &Writer,
        program: &Program,
        offsets: &[(u64, u64)],
        symbol: &str,
        fixed: Fixed,
    ) {
        let (kind, which, tag) = match fixed {
            Fixed::Constant(constant) => {
                let dtype = program.constants[constant as usize].dtype();
                (Kind::Tensor, number_of(dtype), dtype.size() as u32)
            }
            Fixed::Data(data, tag) => (Kind::Data, data, tag),
            Fixed::Unit => (Kind::Tuple, 0, 0),
            Fixed::Function(function) => (Kind::Closure, 0, program.functions[function as usize].parameters),
        };
        let shape: &[usize] = match fixed {
            Fixed::Constant(constant) => program.constants[constant as usize].shape(),
            _ => &[],
        };
        let second = second_word(kind, NO_CLASS, which, shape.len() as u32);
        let mut numbers = vec![Some(first_word(IMMORTAL, tag)), Some(second)];
        if matches!(fixed, Fixed::Constant(_) | Fixed::Function(_)) {
            numbers.push(None);
        }
        numbers.extend(shape.iter().map(|&extent| Some(extent as i64)));
        let (spelling, context) = (writer.spelling, writer.build.context());
        let ty_of = |number: &Option<i64>| if number.is_some() { spelling.int64 } else { spelling.pointer };
        let ty = llvm_struct(context, &numbers.iter().map(ty_of).collect::<Vec<Type>>());
        let region = writer.build.region(&[], |build, _| {
            let inner = Writer { build, spelling };
            let mut all = build.value("llvm.mlir.undef", &[], ty, &[]);
            for (i, number) in numbers.iter().enumerate() {
                let part: Value = match (number, fixed) {
                    (Some(number), _) => inner.int(spelling.int64, *number),
                    (None, Fixed::Constant(constant)) => {
                        inner.at(inner.address(BYTES), offsets[constant as usize].0)
                    }
                    (None, Fixed::Function(function)) => inner.address(&applied_symbol(function, 0)),
                    (None, _) => continue,
                };
                let position = [("position", ints_attr(context, &[i as i64]))];
                all = build.value("llvm.insertvalue", &[all, part], ty, &position);
            }
            inner.give(&[all]);
        });
        global(writer, symbol, ty, false, &[], region);
    }
}

fn global<'c>(
    writer: &Writer<'c>,
    symbol: &str,
    ty: Type<'c>,
    external: bool,
    attrs: &[(&str, fusion_dialects::Attribute<'c>)],
    initial: Region<'c>,
) {
    let context = writer.build.context();
    let linkage = if external { writer.spelling.external } else { writer.spelling.internal };
    let mut all = vec![
        ("sym_name", str_attr(context, symbol)),
        ("global_type", type_attr(ty)),
        ("constant", unit_attr(context)),
        ("linkage", linkage),
    ];
    all.extend(attrs);
    writer.build.op_with_regions("llvm.mlir.global", &[], &[], &all, vec![initial]);
}

/// Writes a list of numbers; it has at least one.
pub fn write_numbers(writer: &Writer, symbol: &str, numbers: &[i64], external: bool) {
    let context = writer.build.context();
    let ty = llvm_array(writer.spelling.int64, numbers.len() as u32);
    let value = ("value", int_elements(context, 64, numbers));
    global(writer, symbol, ty, external, &[value], Region::new());
}

/// Where each constant begins and ends.
fn offsets(program: &Program, before: u64) -> Vec<(u64, u64)> {
    let mut end = before;
    let place = |tensor: &fusion_operators::Tensor| {
        let begin = end.next_multiple_of(ALIGNMENT);
        end = begin + tensor.bytes().len() as u64;
        (begin, end)
    };
    program.constants.iter().map(place).collect()
}

/// How an extent that is not known is written; named ones go on downwards from the next.
const DYNAMIC: i64 = -1;

/// A tensor type as numbers: element type, its bytes, rank, extents. `names` are those met so far.
pub fn tensor_facts(ty: &TensorType, names: &mut IndexSet<String>) -> Vec<i64> {
    let mut facts = vec![i64::from(number_of(ty.dtype)), ty.dtype.size() as i64, ty.rank() as i64];
    facts.extend(ty.dims.iter().map(|dim| match dim {
        Dim::Static(extent) => i64::try_from(*extent).unwrap_or(i64::MAX),
        Dim::Expr(_) | Dim::Any => DYNAMIC,
        Dim::Symbol(name) => DYNAMIC - 1 - names.insert_full(name.clone()).0 as i64,
    }));
    facts
}

/// Bytes as numbers of 64 bits, the lowest first, with zeros behind.
pub fn packed(bytes: &[u8]) -> Vec<i64> {
    let word = |part: &[u8]| part.iter().rev().fold(0i64, |word, byte| word << 8 | i64::from(*byte));
    bytes.chunks(8).map(word).collect()
}

/// The numbers of `fusion_program_strings`.
pub fn strings(program: &Program) -> Vec<i64> {
    let sizes = program.strings.iter().map(|string| string.len() as i64);
    let text: Vec<u8> = program.strings.iter().flat_map(|string| string.bytes()).collect();
    std::iter::once(program.strings.len() as i64).chain(sizes).chain(packed(&text)).collect()
}

/// The numbers of `fusion_program_facts`.
pub fn facts(program: &Program) -> Vec<i64> {
    let outputs = program.tensors_given().map_or(-1, |outputs| outputs.len() as i64);
    let workspace = program.workspace_bytes() as i64;
    let mut names = IndexSet::new();
    let inputs: Vec<i64> = program.inputs.iter().flat_map(|(_, ty)| input_facts(ty, &mut names)).collect();
    let counts = [program.inputs.len(), names.len(), program.data.len()].map(|count| count as i64);
    let mut all = vec![counts[0], outputs, workspace, counts[1], counts[2]];
    for data in &program.data {
        all.push(data.constructors.len() as i64);
        all.extend(data.constructors.iter().map(|c| c.fields.len() as i64));
    }
    all.extend(inputs);
    all.extend(ranges(program));
    all.extend(output_shapes(program));
    match held::bytes(program) {
        None => all.push(-1),
        Some(codes) => {
            all.push(codes.len() as i64);
            codes.into_iter().for_each(|code| all.extend([vec![code.len() as i64], code].concat()));
        }
    }
    all
}

/// How many tensors the program gives, or -1, and for each the rank and the codes of its extents.
fn output_shapes(program: &Program) -> Vec<i64> {
    let outputs = match &program.output {
        ValueType::Tuple(outputs) => outputs.as_slice(),
        output => std::slice::from_ref(output),
    };
    let types = outputs.iter().map(|ty| if let ValueType::Tensor(ty) = ty { Some(ty) } else { None });
    let Some(types) = types.collect::<Option<Vec<_>>>() else { return vec![-1] };
    let mut all = vec![types.len() as i64];
    for ty in types {
        all.push(ty.rank() as i64);
        ty.dims.iter().for_each(|dim| all.extend(extents::code(program, dim)));
    }
    all
}

/// What is compared of the sizes of inputs: for each extent with a range the input and its axis, the range, and the input's name.
fn ranges(program: &Program) -> Vec<i64> {
    let (mut all, mut count) = (Vec::new(), 0);
    for (name, range) in &program.ranges {
        for (input, axis) in places(program.inputs.iter().map(|(_, ty)| ty), name) {
            let called = program.inputs[input].0.as_bytes();
            let numbers =
                [input as u64, axis as u64, range.least, range.most, range.multiple, called.len() as u64];
            all.extend(numbers.map(|number| number as i64));
            all.extend(packed(called));
            count += 1;
        }
    }
    [vec![count], all].concat()
}

fn input_facts(ty: &ValueType, names: &mut IndexSet<String>) -> Vec<i64> {
    let kind = match ty {
        ValueType::Tensor(ty) => return [vec![Kind::Tensor as i64], tensor_facts(ty, names)].concat(),
        ValueType::Tuple(_) => Kind::Tuple,
        ValueType::Data(..) => Kind::Data,
        ValueType::Cell(_) => Kind::Cell,
        // Inputs have no parameters.
        ValueType::Function | ValueType::Parameter(_) => Kind::Closure,
    };
    vec![kind as i64]
}
