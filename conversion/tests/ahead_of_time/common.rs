//! Programs by hand, and the kernels they call.

use fusion_bytecode::{Constructor, DataType, Function, Instruction, Kernel, Program, ValueType};
use fusion_dialects::{Target, load_context};
use fusion_operators::{DType, Item, Tensor, TensorType, ValueTree};
use fusion_programs::bytecode_to_llvm::compile;
use fusion_runtime::object_file::Constants;
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::{ModelDescription, NativeProgram};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kernels on scalars of i32, `LESS` gives a boolean; `FILL` makes the large tensors of `large`.
const KERNELS: &str = r#"
#include <stdint.h>
typedef const void *const *in; typedef void *const *out;
#define BINARY(name, op) \
  void name(in x, out y, void *w) { (void)w; *(int32_t *)y[0] = *(const int32_t *)x[0] op *(const int32_t *)x[1]; }
BINARY(k_add, +)
BINARY(k_sub, -)
void k_less(in x, out y, void *w) { (void)w; *(char *)y[0] = *(const int32_t *)x[0] < *(const int32_t *)x[1]; }
void k_divide(in x, out y, void *w) {
  int32_t *scratch = w;
  scratch[0] = *(const int32_t *)x[1];
  *(int32_t *)y[0] = *(const int32_t *)x[0] / scratch[0];
  *(int32_t *)y[1] = *(const int32_t *)x[0] % scratch[0];
}
void k_double(in x, out y, void *w) {
  (void)w;
  for (int i = 0; i < 600000; i++) ((float *)y[0])[i] = 2 * ((const float *)x[0])[i];
}
void k_huge(in x, out y, void *w) { (void)x; (void)y; (void)w; }
"#;

pub const ADD: u32 = 0;
pub const SUB: u32 = 1;
pub const LESS: u32 = 2;
pub const DIVIDE: u32 = 3;
pub const DOUBLE: u32 = 4;
pub const HUGE: u32 = 5;

/// Compiles a program in C with a library beside it, and runs it: it ends with 0, or with the number of what is wrong.
pub fn run_c(directory: &Path, source: &str, library: &Path) {
    let (file, main) = (directory.join("main.c"), directory.join("main"));
    std::fs::write(&file, source).unwrap();
    let compiled =
        Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&main, &file]).arg(library).status();
    assert!(compiled.unwrap().success());
    assert_eq!(Command::new(&main).status().unwrap().code(), Some(0));
}

pub fn int() -> TensorType {
    TensorType::fixed(&[], DType::I32)
}

pub fn large() -> TensorType {
    TensorType::fixed(&[600_000], DType::F32)
}

pub fn number(value: i128) -> Tensor {
    Tensor::from_ints(DType::I32, &[], &[value]).unwrap()
}

pub fn value(number_: i128) -> ValueTree {
    ValueTree::tensor(number(number_))
}

/// A program of these functions, with constants 0, 1, ... 9, the kernels above, and lists (`Nil`, `Cons`) and trees (`Leaf`, `Node`).
pub fn program(inputs: &[(&str, ValueType)], output: ValueType, functions: Vec<Function>) -> Program {
    let kernel = |symbol: &str, inputs: Vec<TensorType>, outputs: Vec<TensorType>, workspace_bytes| Kernel {
        symbol: symbol.to_owned(),
        inputs,
        outputs,
        workspace_bytes,
        shapes: None,
    };
    let two = || vec![int(), int()];
    let element = || ValueType::Parameter(0);
    let of = |data: u32| ValueType::Data(data, vec![element()]);
    let data = |name: &str, constructors: [(&str, Vec<ValueType>); 2]| DataType {
        name: name.to_owned(),
        constructors: constructors
            .map(|(name, fields)| Constructor { name: name.to_owned(), fields })
            .to_vec(),
    };
    Program {
        data: vec![
            data("List", [("Nil", vec![]), ("Cons", vec![element(), of(0)])]),
            data("Tree", [("Leaf", vec![element()]), ("Node", vec![of(1), of(1)])]),
        ],
        strings: vec![],
        constants: (0..10).map(number).collect(),
        kernels: vec![
            kernel("k_add", two(), vec![int()], 0),
            kernel("k_sub", two(), vec![int()], 0),
            kernel("k_less", two(), vec![TensorType::fixed(&[], DType::Bool)], 0),
            kernel("k_divide", two(), two(), 64),
            kernel("k_double", vec![large()], vec![large()], 0),
            kernel("k_huge", vec![], vec![TensorType::fixed(&[1 << 44], DType::F32)], 0),
        ],
        functions,
        entry: 0,
        inputs: inputs.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect(),
        ranges: vec![],
        output,
    }
}

pub fn function(name: &str, parameters: u32, code: Vec<Instruction>) -> Function {
    let places = (0..code.len()).map(|i| format!("{name}.relay:{}:1", i + 1)).collect();
    let registers = 32;
    Function { name: name.to_owned(), parameters, registers, code, places }
}

pub fn objects(directory: &Path) -> PathBuf {
    let (source, object) = (directory.join("kernels.c"), directory.join("kernels.o"));
    std::fs::write(&source, KERNELS).unwrap();
    let compiled = Command::new("cc").args(["-O2", "-fPIC", "-c", "-o"]).args([&object, &source]).status();
    assert!(compiled.unwrap().success());
    object
}

/// The kernels as a library of their own.
pub fn kernels_image() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let (object, library) = (objects(directory.path()), directory.path().join("kernels.so"));
    let linked = Command::new("cc").args(["-shared", "-o"]).args([&library, &object]).status();
    assert!(linked.unwrap().success());
    std::fs::read(library).unwrap()
}

/// Writes the program's library.
pub fn write(program: &Program, path: &Path) {
    let kernels = objects(path.parent().unwrap());
    let native = compile(&load_context(), program, &Target::default()).unwrap();
    let description = ModelDescription::of_program("program", "cpu", program);
    let mut constants = Constants::default();
    constants.push(&native.constants, 64);
    let package = Package {
        description: &description,
        code: vec![CodeObject::Bytes(&native.object), CodeObject::File(&kernels)],
        constants,
        outside: None,
        libraries: vec![],
        linker: None,
        own_linker: None,
    };
    package.write(path).unwrap();
}

/// A loaded program; its files are gone.
pub fn native(program: &Program) -> NativeProgram {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.so");
    write(program, &path);
    NativeProgram::load(&path).unwrap().unwrap()
}

/// Runs a program that must leave no value behind.
pub fn run(program: &NativeProgram, inputs: &[ValueTree]) -> ValueTree {
    let result = program.call(inputs).unwrap();
    assert_eq!(program.live_values(), 0);
    result
}

pub fn error(program: &NativeProgram, inputs: &[ValueTree]) -> String {
    let message = program.call(inputs).unwrap_err().to_string();
    assert_eq!(program.live_values(), 0);
    message
}

pub fn tensor() -> ValueType {
    ValueType::Tensor(int())
}

/// The numbers of a list.
pub fn numbers(list: &ValueTree) -> Vec<i128> {
    let tensors = list.items.iter().filter_map(|item| match item {
        Item::Tensor(tensor) => Some(tensor.int_at(0)),
        _ => None,
    });
    tensors.collect()
}
