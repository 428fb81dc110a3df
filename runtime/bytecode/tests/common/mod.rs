//! Programs of the tests.
#![allow(dead_code)]

use fusion_bytecode::{
    Constructor, DataType, Function, Instruction as I, Kernel, Program, Range, Scalar, ValueType,
};
use fusion_operators::random::Random;
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType, ops};

pub fn int() -> TensorType {
    TensorType::fixed(&[], DType::I32)
}

pub fn function(name: &str, parameters: u32, registers: u32, code: Vec<I>) -> Function {
    Function { name: name.to_owned(), parameters, registers, code, places: vec![] }
}

/// A program with lists, a constant and a kernel; the first function is its entry.
pub fn program(inputs: usize, functions: Vec<Function>) -> Program {
    let constructor = |name: &str, fields| Constructor { name: name.to_owned(), fields };
    let element = ValueType::Parameter(0);
    let fields = vec![element.clone(), ValueType::Data(0, vec![element])];
    let list = ValueType::Data(0, vec![ValueType::Tensor(int())]);
    Program {
        data: vec![DataType {
            name: "List".to_owned(),
            constructors: vec![constructor("Nil", vec![]), constructor("Cons", fields)],
        }],
        strings: vec![],
        constants: vec![Tensor::from_slice(&[], &[0i32]).unwrap()],
        kernels: vec![Kernel {
            symbol: "add".to_owned(),
            inputs: vec![int(), int()],
            outputs: vec![int()],
            workspace_bytes: 0,
            shapes: None,
        }],
        functions,
        entry: 0,
        inputs: (0..inputs).map(|_| ("l".to_owned(), list.clone())).collect(),
        ranges: vec![],
        output: ValueType::Tensor(int()),
    }
}

/// The sum of a list, with places in the source.
pub fn list_sum() -> Program {
    let code = vec![
        I::Switch { value: 0, targets: vec![1, 4] },
        I::Drop { value: 0 },
        I::Constant { to: 0, constant: 0 },
        I::Return { value: 0 },
        I::Field { to: 1, from: 0, index: 0 },
        I::Field { to: 2, from: 0, index: 1 },
        I::Drop { value: 0 },
        I::Call { to: 2, function: 0, arguments: vec![2] },
        I::Kernel { kernel: 0, inputs: vec![1, 2], outputs: vec![3] },
        I::Drop { value: 1 },
        I::Drop { value: 2 },
        I::Return { value: 3 },
    ];
    program(1, vec![function("sum", 1, 4, code)])
}

/// Every instruction once, in an order that keeps the rules.
pub fn everything() -> Program {
    let dynamic = TensorType::new(vec![Dim::Symbol("n".to_owned()), Dim::Any], DType::F32);
    let code = vec![
        I::Constant { to: 1, constant: 0 },
        I::Copy { to: 2, from: 1 },
        I::Kernel { kernel: 0, inputs: vec![1, 2], outputs: vec![3] },
        I::Operator {
            operator: "concat".to_owned(),
            attributes: Attrs::new().with("axis", 0).with("pads", [1, 2]).with("to", DType::BF16),
            inputs: vec![1, 2],
            outputs: vec![4],
        },
        I::CheckTypes { values: vec![1, 4], types: vec![int(), dynamic] },
        I::Move { to: 5, from: 4 },
        I::Tuple { to: 4, elements: vec![5, 3] },
        I::Field { to: 3, from: 4, index: 1 },
        I::Construct { to: 4, data: 0, tag: 1, fields: vec![4, 3] },
        I::NewCell { to: 4, value: 4 },
        I::ReadCell { to: 3, cell: 4 },
        I::WriteCell { cell: 4, value: 3 },
        I::Closure { to: 3, function: 1, captured: vec![4] },
        I::Apply { to: 3, closure: 3, arguments: vec![1] },
        I::Call { to: 3, function: 1, arguments: vec![2, 3] },
        I::JumpUnless { condition: 0, target: 17 },
        I::Switch { value: 3, targets: vec![17, 21] },
        I::Drop { value: 3 },
        I::Closure { to: 1, function: 0, captured: vec![] },
        I::Jump { target: 20 },
        I::TailApply { closure: 1, arguments: vec![0] },
        I::TailCall { function: 1, arguments: vec![0, 3] },
    ];
    let second = vec![
        I::Tuple { to: 0, elements: vec![0, 1] },
        I::JumpUnless { condition: 0, target: 3 },
        I::Return { value: 0 },
        I::Fail { message: "no case \"fits\"".to_owned() },
    ];
    let mut program = program(1, vec![function("main", 1, 6, code), function("pair", 2, 2, second)]);
    program.ranges = vec![("n".to_owned(), Range { least: 8, most: 64, multiple: 8 })];
    program.functions[0].places = (1..=22).map(|line| format!("list.relay:{line}:3")).collect();
    program
}

/// A program of random instructions over names that are there; it need not keep the rules.
pub fn random(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let mut below = |n: u32| (random.next_u64() % u64::from(n)) as u32;
    let mut program = everything();
    let scalars: Vec<Scalar> = ops::all().filter_map(Scalar::of).collect();
    for function in &mut program.functions {
        function.registers = below(1 << 20);
        function.code.clear();
        function.places.clear();
        for _ in 0..below(40) {
            let mut list = || -> Vec<u32> { (0..below(4)).map(|_| below(100)).collect() };
            let (inputs, outputs, more) = (list(), list(), list());
            let (to, from, index) = (below(100), below(100), below(9));
            let dynamic = TensorType::new(
                vec![Dim::Symbol("extent".to_owned()), Dim::Static(below(9).into()), Dim::Any],
                DType::ALL[below(14) as usize],
            );
            let scalar = scalars[below(scalars.len() as u32) as usize];
            let attributes = Attrs::new().with("a", i64::from(index)).with("b", f64::from(to) / 8.0);
            let types = inputs.iter().map(|_| dynamic.clone()).collect();
            let operator = "concat".to_owned();
            let (ty, result) = (DType::ALL[below(13) as usize], DType::ALL[below(13) as usize]);
            function.code.push(match below(24) {
                0 => I::Constant { to, constant: index },
                1 => I::Kernel { kernel: 0, inputs, outputs },
                2 => I::Operator { operator, attributes, inputs, outputs },
                3 => I::Scalar { to, scalar, ty, result, inputs },
                4 => I::CheckTypes { values: inputs, types },
                5 => I::Copy { to, from },
                6 => I::Move { to, from },
                7 => I::Drop { value: to },
                8 => I::Tuple { to, elements: inputs },
                9 => I::Construct { to, data: 0, tag: below(2), fields: inputs },
                10 => I::Field { to, from, index },
                11 => I::Closure { to, function: below(2), captured: inputs },
                12 => I::Call { to, function: below(2), arguments: inputs },
                13 => I::Apply { to, closure: from, arguments: inputs },
                14 => I::TailCall { function: below(2), arguments: inputs },
                15 => I::TailApply { closure: from, arguments: inputs },
                16 => I::Return { value: to },
                17 => I::Jump { target: index },
                18 => I::JumpUnless { condition: to, target: index },
                19 => I::Switch { value: to, targets: more },
                20 => I::NewCell { to, value: from },
                21 => I::ReadCell { to, cell: from },
                22 => I::WriteCell { cell: to, value: from },
                _ => I::Fail { message: format!("number {to} // \"{from}\"") },
            });
        }
        if below(2) == 0 {
            function.places = (0..function.code.len())
                .map(|i| {
                    if i == 0 {
                        "a.relay:1:1".into()
                    } else if i % 3 == 0 {
                        String::new()
                    } else {
                        format!("f.relay:{i}:3")
                    }
                })
                .collect();
        }
    }
    program
}
