//! What goes wrong with values is a sentence with the place; nothing is left behind.

use super::programs::*;
use fusion_bytecode::{Instruction as I, Program, ValueType};
use fusion_runtime::vm::{KernelLibrary, Machine};

fn said(program: Program) -> String {
    let inputs: Vec<_> = program.inputs.iter().map(|_| value(1)).collect();
    let mut machine = machine(program);
    let said = machine.run(&inputs).unwrap_err().to_string();
    assert_eq!((machine.live(), machine.leaked()), (0, 0));
    said
}

fn one(instructions: Vec<I>, registers: u32) -> Program {
    program(&[("x", ValueType::Tensor(int()))], vec![function("main", 1, registers, instructions)])
}

#[test]
fn a_failure_says_what_the_program_says() {
    let code = vec![I::Fail { message: "no case of the match fits".to_owned() }];
    assert_eq!(said(one(code, 1)), "test.relay:1:1: in @main: no case of the match fits");
}

#[test]
fn values_of_the_wrong_kind_are_named() {
    let applied = vec![I::TailApply { closure: 0, arguments: vec![] }];
    assert_eq!(
        said(one(applied, 1)),
        "test.relay:1:1: in @main: a function was expected to be called, found a tensor<i32>"
    );
    let condition = vec![I::JumpUnless { condition: 0, target: 1 }, I::Return { value: 0 }];
    assert_eq!(
        said(one(condition, 1)),
        "test.relay:1:1: in @main: a condition is a tensor<i1>, found a tensor<i32>"
    );
    let matched = vec![I::Switch { value: 0, targets: vec![1] }, I::Return { value: 0 }];
    assert_eq!(
        said(one(matched, 1)),
        "test.relay:1:1: in @main: a value of a data type was expected to be matched, found a tensor<i32>"
    );
    let field = vec![
        I::Tuple { to: 0, elements: vec![0] },
        I::Field { to: 1, from: 0, index: 1 },
        I::Drop { value: 0 },
        I::Return { value: 1 },
    ];
    assert_eq!(
        said(one(field, 2)),
        "test.relay:2:1: in @main: field 1 of a tuple of 1 was asked for, which it does not have"
    );
}

#[test]
fn kernels_get_no_other_types() {
    let code = vec![
        I::Kernel { kernel: TWICE, inputs: vec![0], outputs: vec![1, 2] },
        I::Drop { value: 1 },
        I::Drop { value: 2 },
        I::Return { value: 0 },
    ];
    assert_eq!(
        said(one(code, 3)),
        "test.relay:1:1: in @main: input 0 of kernel twice_and_sum is a tensor<4xf32>, found a tensor<i32>"
    );
}

#[test]
fn closures_know_how_many_arguments_they_take() {
    let code = vec![
        I::Closure { to: 1, function: 0, captured: vec![] },
        I::Copy { to: 2, from: 0 },
        I::TailApply { closure: 1, arguments: vec![0, 2] },
    ];
    assert_eq!(
        said(one(code, 3)),
        "test.relay:3:1: in @main: a function that takes 1 arguments is called with 2"
    );
}

#[test]
fn missing_kernels_are_named() {
    let none = Machine::new(countdown(), KernelLibrary::none()).err().unwrap().to_string();
    assert_eq!(
        none,
        "the library with the program's kernels has no symbol \"subtract\", which the program calls"
    );
    let said = KernelLibrary::from_image(b"no library").err().unwrap().to_string();
    assert_eq!(
        said,
        "the library with the program's kernels is not a 64-bit little-endian ELF shared library"
    );
}
