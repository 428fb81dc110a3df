//! Programs that several tests use, and the kernels they call.

use fusion_bytecode::{Constructor, DataType, Function, Instruction, Kernel, Program, ValueType};
use fusion_operators::{DType, Tensor, TensorType, ValueTree};
use fusion_runtime::vm::{KernelLibrary, Limits, Machine};
use std::process::Command;
use std::sync::OnceLock;

const CODE: &str = r#"
#include <stdint.h>
void subtract(const void *const *in, void *const *out, void *w) { *(int32_t *)out[0] = *(const int32_t *)in[0] - *(const int32_t *)in[1]; }
void add(const void *const *in, void *const *out, void *w) { *(int32_t *)out[0] = *(const int32_t *)in[0] + *(const int32_t *)in[1]; }
void positive(const void *const *in, void *const *out, void *w) { *(uint8_t *)out[0] = *(const int32_t *)in[0] > 0; }
void twice_and_sum(const void *const *in, void *const *out, void *workspace) {
  const float *x = in[0]; float *y = out[0], *sum = out[1], *w = workspace;
  for (int i = 0; i < 4; i++) w[i] = 2 * x[i];
  *sum = 0;
  for (int i = 0; i < 4; i++) { y[i] = w[i]; *sum += x[i]; }
  if (((uintptr_t)x | (uintptr_t)y | (uintptr_t)sum | (uintptr_t)w) % 64) *sum = -1;
}
"#;

/// The kernels as an ELF image.
pub fn image() -> &'static [u8] {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let (source, library) = (directory.path().join("k.c"), directory.path().join("k.so"));
        std::fs::write(&source, CODE).unwrap();
        let arguments = ["-O1", "-fPIC", "-shared", "-o"];
        let status = Command::new("cc").args(arguments).args([&library, &source]).status().unwrap();
        assert!(status.success());
        std::fs::read(library).unwrap()
    })
}

pub fn int() -> TensorType {
    TensorType::fixed(&[], DType::I32)
}

pub fn scalar(value: i32) -> Tensor {
    Tensor::from_slice(&[], &[value]).unwrap()
}

pub fn value(n: i32) -> ValueTree {
    ValueTree::tensor(scalar(n))
}

pub const SUBTRACT: u32 = 0;
pub const ADD: u32 = 1;
pub const POSITIVE: u32 = 2;
pub const TWICE: u32 = 3;
pub const NIL: u32 = 0;
pub const CONS: u32 = 1;

/// A program with all kernels, the constants 0 and 1, and lists; the first function is its entry.
pub fn program(inputs: &[(&str, ValueType)], functions: Vec<Function>) -> Program {
    let kernel = |symbol: &str, inputs: &[TensorType], outputs: &[TensorType], workspace_bytes| Kernel {
        symbol: symbol.to_owned(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        workspace_bytes,
        shapes: None,
    };
    let four = TensorType::fixed(&[4], DType::F32);
    let constructor = |name: &str, fields| Constructor { name: name.to_owned(), fields };
    let element = ValueType::Parameter(0);
    let fields = vec![element.clone(), ValueType::Data(0, vec![element])];
    Program {
        data: vec![DataType {
            name: "List".to_owned(),
            constructors: vec![constructor("Nil", vec![]), constructor("Cons", fields)],
        }],
        strings: vec![],
        constants: vec![scalar(0), scalar(1)],
        kernels: vec![
            kernel("subtract", &[int(), int()], &[int()], 0),
            kernel("add", &[int(), int()], &[int()], 0),
            kernel("positive", &[int()], &[TensorType::fixed(&[], DType::Bool)], 0),
            kernel(
                "twice_and_sum",
                std::slice::from_ref(&four),
                &[four.clone(), TensorType::fixed(&[], DType::F32)],
                16,
            ),
        ],
        functions,
        entry: 0,
        inputs: inputs.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect(),
        ranges: vec![],
        output: ValueType::Tensor(int()),
    }
}

pub fn function(name: &str, parameters: u32, registers: u32, code: Vec<Instruction>) -> Function {
    let places = (0..code.len()).map(|i| format!("test.relay:{}:1", i + 1)).collect();
    Function { name: name.to_owned(), parameters, registers, code, places }
}

pub fn machine(program: Program) -> Machine {
    Machine::new(program, KernelLibrary::from_image(image()).unwrap()).unwrap()
}

pub fn limited(program: Program, limits: Limits) -> Machine {
    Machine::with_limits(program, KernelLibrary::from_image(image()).unwrap(), limits).unwrap()
}

pub fn list(elements: impl DoubleEndedIterator<Item = i32>) -> ValueTree {
    use fusion_operators::Item;
    let mut items = Vec::new();
    for element in elements {
        items.push(Item::Data("Cons".to_owned(), 2));
        items.push(Item::Tensor(scalar(element)));
    }
    items.push(Item::Data("Nil".to_owned(), 0));
    ValueTree { items }
}

pub fn list_type() -> ValueType {
    ValueType::Data(0, vec![ValueType::Tensor(int())])
}

/// `count(n) = if n > 0 { count(n - 1) } else { n }`, by a tail call.
pub fn countdown() -> Program {
    use Instruction as I;
    let code = vec![
        I::Kernel { kernel: POSITIVE, inputs: vec![0], outputs: vec![1] },
        I::JumpUnless { condition: 1, target: 7 },
        I::Drop { value: 1 },
        I::Constant { to: 1, constant: 1 },
        I::Kernel { kernel: SUBTRACT, inputs: vec![0, 1], outputs: vec![2] },
        I::Drop { value: 0 },
        I::Jump { target: 9 },
        I::Drop { value: 1 },
        I::Return { value: 0 },
        I::Drop { value: 1 },
        I::TailCall { function: 0, arguments: vec![2] },
    ];
    program(&[("n", ValueType::Tensor(int()))], vec![function("count", 1, 3, code)])
}

/// `sum(l) = match l { Nil => 0, Cons(x, rest) => x + sum(rest) }`: recursion as deep as the list.
pub fn sum() -> Program {
    use Instruction as I;
    let code = vec![
        I::Switch { value: 0, targets: vec![1, 4] },
        I::Drop { value: 0 },
        I::Constant { to: 0, constant: 0 },
        I::Return { value: 0 },
        I::Field { to: 1, from: 0, index: 0 },
        I::Field { to: 2, from: 0, index: 1 },
        I::Drop { value: 0 },
        I::Call { to: 2, function: 0, arguments: vec![2] },
        I::Kernel { kernel: ADD, inputs: vec![1, 2], outputs: vec![3] },
        I::Drop { value: 1 },
        I::Drop { value: 2 },
        I::Return { value: 3 },
    ];
    program(&[("l", list_type())], vec![function("sum", 1, 4, code)])
}

/// Builds a list of `n` numbers by a loop, `range(n, rest)`.
pub fn range() -> Program {
    use Instruction as I;
    let main = vec![
        I::Construct { to: 1, data: 0, tag: NIL, fields: vec![] },
        I::TailCall { function: 1, arguments: vec![0, 1] },
    ];
    let range = vec![
        I::Kernel { kernel: POSITIVE, inputs: vec![0], outputs: vec![2] },
        I::JumpUnless { condition: 2, target: 7 },
        I::Drop { value: 2 },
        I::Constant { to: 2, constant: 1 },
        I::Kernel { kernel: SUBTRACT, inputs: vec![0, 2], outputs: vec![3] },
        I::Construct { to: 0, data: 0, tag: CONS, fields: vec![0, 1] },
        I::Jump { target: 10 },
        I::Drop { value: 2 },
        I::Drop { value: 0 },
        I::Return { value: 1 },
        I::Drop { value: 2 },
        I::TailCall { function: 1, arguments: vec![3, 0] },
    ];
    program(
        &[("n", ValueType::Tensor(int()))],
        vec![function("main", 1, 2, main), function("range", 2, 4, range)],
    )
}
