//! What errors say, and that nothing is left after them.

use super::common::*;
use fusion_bytecode::{Instruction as I, ValueType};
use fusion_conversion::bytecode_to_llvm::{BytecodeError, to_module};
use fusion_dialects::load_context;
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType, ValueTree};

#[test]
fn a_failure_names_its_place() {
    let code = vec![I::NewCell { to: 1, value: 0 }, I::Fail { message: "no clause matches".into() }];
    let main = function("main", 1, code);
    let program = native(&program(&[("x", tensor())], tensor(), vec![main]));
    for _ in 0..100 {
        assert_eq!(error(&program, &[value(1)]), "main.relay:2:1: in @main: no clause matches");
    }
}

#[test]
fn recursion_without_end_fails() {
    let main = vec![I::Call { to: 1, function: 1, arguments: vec![0] }, I::Return { value: 1 }];
    // Holds what it builds while it waits.
    let forever = vec![
        I::Copy { to: 1, from: 0 },
        I::Call { to: 2, function: 1, arguments: vec![1] },
        I::Tuple { to: 3, elements: vec![0, 2] },
        I::Return { value: 3 },
    ];
    let functions = vec![function("main", 1, main), function("forever", 1, forever)];
    let program = native(&program(&[("x", tensor())], ValueType::Tuple(vec![]), functions));
    for _ in 0..3 {
        assert_eq!(
            error(&program, &[value(1)]),
            "forever.relay:1:1: in @forever: functions call each other too deeply, the stack of 256 MiB is used up; write the \
             recursion so that the last thing a function does is the call, or set FUSION_STACK_MB to more"
        );
    }
}

#[test]
fn memory_that_is_not_there_fails() {
    let code = vec![I::Kernel { kernel: HUGE, inputs: vec![], outputs: vec![0] }, I::Return { value: 0 }];
    let program = native(&program(&[], tensor(), vec![function("main", 0, code)]));
    assert_eq!(error(&program, &[]), "There is no memory for a value of 70368744177664 bytes.");
}

#[test]
fn functions_take_as_many_arguments_as_they_take() {
    let main = vec![
        I::Closure { to: 1, function: 0, captured: vec![] },
        I::Copy { to: 2, from: 0 },
        I::Apply { to: 3, closure: 1, arguments: vec![0, 2] },
        I::Return { value: 3 },
    ];
    let program = native(&program(&[("x", tensor())], tensor(), vec![function("main", 1, main)]));
    let wanted =
        "main.relay:3:1: in @main: a function is applied to another number of arguments than it takes";
    assert_eq!(error(&program, &[value(1)]), wanted);
}

#[test]
fn types_are_checked_where_that_is_asked() {
    let extent = |name: &str| Dim::Symbol(name.into());
    let ty = |dims: Vec<Dim>| TensorType::new(dims, DType::I32);
    let types = vec![ty(vec![extent("n"), Dim::Static(2)]), ty(vec![Dim::Any, extent("n")])];
    let main =
        vec![I::CheckTypes { values: vec![0, 1], types }, I::Drop { value: 0 }, I::Return { value: 1 }];
    let dynamic = || ValueType::Tensor(ty(vec![Dim::Any, Dim::Any]));
    let inputs = [("x", dynamic()), ("y", dynamic())];
    let program = native(&program(&inputs, dynamic(), vec![function("main", 2, main)]));
    let matrix = |shape: &[usize]| ValueTree::tensor(Tensor::zeros(DType::I32, shape).unwrap());
    assert_eq!(run(&program, &[matrix(&[3, 2]), matrix(&[5, 3])]), matrix(&[5, 3]));
    assert_eq!(
        error(&program, &[matrix(&[3, 2]), matrix(&[5, 4])]),
        "main.relay:1:1: in @main: a value should be a tensor<?xnxi32>, but it is a tensor<5x4xi32>"
    );
    assert_eq!(
        error(&program, &[matrix(&[3, 1]), matrix(&[5, 3])]),
        "main.relay:1:1: in @main: a value should be a tensor<nx2xi32>, but it is a tensor<3x1xi32>"
    );
}

#[test]
fn inputs_are_checked() {
    let main = vec![I::Drop { value: 0 }, I::Return { value: 1 }];
    let inputs = [("x", tensor()), ("y", ValueType::Tuple(vec![tensor()]))];
    let program = native(&program(&inputs, tensor(), vec![function("main", 2, main)]));
    let one = || ValueTree::tuple(vec![value(1)]);
    assert_eq!(run(&program, &[value(1), one()]), one());
    let said = |inputs: &[ValueTree]| error(&program, inputs);
    assert_eq!(said(&[value(1)]), "the program takes 2 inputs (x, y), but 1 were given");
    let found = |place: usize, other: ValueTree| {
        let mut inputs = [value(1), one()];
        inputs[place] = other;
        said(&inputs)
    };
    let not = |name: &str, ty: &str| format!("input {name:?} of the program does not have the type {ty}: ");
    assert_eq!(found(0, one()), not("x", "tensor<i32>") + "expected tensor<i32>, found a tuple of 1");
    let other = "input \"x\" of the program has another type: expected a tensor<i32>, found a ";
    let zeros = |dtype, shape: &[usize]| ValueTree::tensor(Tensor::zeros(dtype, shape).unwrap());
    assert_eq!(found(0, zeros(DType::F32, &[])), format!("{other}tensor<f32>"));
    assert_eq!(found(0, zeros(DType::I32, &[1])), format!("{other}tensor<1xi32>"));
    let nil = ValueTree::data("Nil", vec![]);
    assert_eq!(found(1, nil), not("y", "(tensor<i32>)") + "expected (tensor<i32>), found Nil");
}

#[test]
fn operators_on_open_extents_are_refused() {
    let operator = I::Operator {
        operator: "add".into(),
        attributes: Attrs::new(),
        inputs: vec![0, 1],
        outputs: vec![2],
    };
    let main = vec![operator, I::Drop { value: 0 }, I::Drop { value: 1 }, I::Return { value: 2 }];
    let program = program(&[("x", tensor()), ("y", tensor())], tensor(), vec![function("main", 2, main)]);
    let context = load_context();
    let refused = to_module(&context, &program).err();
    assert!(
        matches!(&refused, Some(BytecodeError::Dynamic { place, .. }) if place == "main.relay:1:1: "),
        "{refused:?}"
    );
}
