//! What instructions compute.

use super::common::*;
use fusion_bytecode::{Instruction as I, ValueType};
use fusion_operators::ValueTree;

#[test]
fn constants_and_kernels() {
    let code = vec![
        I::Constant { to: 0, constant: 7 },
        I::Constant { to: 1, constant: 2 },
        I::Kernel { kernel: DIVIDE, inputs: vec![0, 1], outputs: vec![2, 3] },
        I::Drop { value: 1 },
        I::Tuple { to: 4, elements: vec![0, 2, 3] },
        I::Return { value: 4 },
    ];
    let main = function("main", 0, code);
    let program = native(&program(&[], ValueType::Tuple(vec![tensor(); 3]), vec![main]));
    for _ in 0..3 {
        assert_eq!(run(&program, &[]), ValueTree::tuple(vec![value(7), value(3), value(1)]));
    }
}

#[test]
fn inputs_are_copied_and_given_back() {
    let code = vec![
        I::Copy { to: 2, from: 0 },
        I::Move { to: 3, from: 1 },
        I::Tuple { to: 4, elements: vec![] },
        I::Tuple { to: 5, elements: vec![3, 0, 2, 4] },
        I::Return { value: 5 },
    ];
    let main = function("main", 2, code);
    let output = ValueType::Tuple(vec![
        ValueType::Tuple(vec![tensor(); 2]),
        tensor(),
        tensor(),
        ValueType::Tuple(vec![]),
    ]);
    let inputs = [("x", tensor()), ("y", ValueType::Tuple(vec![tensor(); 2]))];
    let program = native(&program(&inputs, output, vec![main]));
    let pair = ValueTree::tuple(vec![value(5), value(6)]);
    let wanted = ValueTree::tuple(vec![pair.clone(), value(4), value(4), ValueTree::tuple(vec![])]);
    assert_eq!(run(&program, &[value(4), pair]), wanted);
}

/// @main gives `1 - 0` when 1 < 2, else 9; the function of two fields is told from the constructor's.
#[test]
fn conditions_choose() {
    let choose = |a: u32, b: u32| {
        let code = vec![
            I::Constant { to: 0, constant: a },
            I::Constant { to: 1, constant: b },
            I::Kernel { kernel: LESS, inputs: vec![0, 1], outputs: vec![2] },
            I::Drop { value: 0 },
            I::JumpUnless { condition: 2, target: 8 },
            I::Drop { value: 2 },
            I::Move { to: 3, from: 1 },
            I::Jump { target: 11 },
            I::Drop { value: 2 },
            I::Drop { value: 1 },
            I::Constant { to: 3, constant: 9 },
            I::Return { value: 3 },
        ];
        run(&native(&program(&[], tensor(), vec![function("main", 0, code)])), &[])
    };
    assert_eq!(choose(1, 2), value(2));
    assert_eq!(choose(2, 1), value(9));
}

#[test]
fn fields_are_taken_whether_shared_or_not() {
    // A pair of lists, of which one is also held elsewhere while it is taken apart.
    let code = vec![
        I::Constant { to: 0, constant: 3 },
        I::Construct { to: 1, data: 0, tag: 0, fields: vec![] },
        I::Construct { to: 2, data: 0, tag: 1, fields: vec![0, 1] },
        I::Copy { to: 3, from: 2 },
        I::Field { to: 4, from: 2, index: 0 },
        I::Field { to: 5, from: 2, index: 1 },
        I::Drop { value: 2 },
        I::Field { to: 6, from: 3, index: 1 },
        I::Field { to: 7, from: 3, index: 0 },
        I::Drop { value: 3 },
        I::Construct { to: 8, data: 0, tag: 1, fields: vec![4, 6] },
        I::Construct { to: 9, data: 0, tag: 1, fields: vec![7, 5] },
        I::Construct { to: 10, data: 1, tag: 1, fields: vec![8, 9] },
        I::Field { to: 11, from: 10, index: 1 },
        I::Drop { value: 10 },
        I::Return { value: 11 },
    ];
    let main = function("main", 0, code);
    let program = native(&program(&[], ValueType::Data(0, vec![tensor()]), vec![main]));
    assert_eq!(run(&program, &[]).to_string(), "Cons(tensor<i32> 3, Nil)");
}

#[test]
fn functions_capture_values() {
    // @main makes f = fn(z) { x - y - z } with x = 9, y = 2 and adds f(1) to f(3): once f is shared, once it is not.
    let main = vec![
        I::Constant { to: 0, constant: 9 },
        I::Constant { to: 1, constant: 2 },
        I::Closure { to: 2, function: 1, captured: vec![0, 1] },
        I::Copy { to: 3, from: 2 },
        I::Constant { to: 4, constant: 1 },
        I::Apply { to: 5, closure: 3, arguments: vec![4] },
        I::Constant { to: 6, constant: 3 },
        I::Apply { to: 7, closure: 2, arguments: vec![6] },
        I::Closure { to: 8, function: 2, captured: vec![] },
        I::TailApply { closure: 8, arguments: vec![5, 7] },
    ];
    let subtract = vec![
        I::Kernel { kernel: SUB, inputs: vec![0, 1], outputs: vec![3] },
        I::Drop { value: 0 },
        I::Drop { value: 1 },
        I::Kernel { kernel: SUB, inputs: vec![3, 2], outputs: vec![4] },
        I::Drop { value: 2 },
        I::Drop { value: 3 },
        I::Return { value: 4 },
    ];
    let add = vec![
        I::Kernel { kernel: ADD, inputs: vec![0, 1], outputs: vec![2] },
        I::Drop { value: 0 },
        I::Drop { value: 1 },
        I::Return { value: 2 },
    ];
    let functions =
        vec![function("main", 0, main), function("subtract", 3, subtract), function("add", 2, add)];
    let program = native(&program(&[], tensor(), functions));
    assert_eq!(run(&program, &[]), value(10));
}

#[test]
fn cells_are_read_and_written() {
    let code = vec![
        I::Constant { to: 0, constant: 4 },
        I::NewCell { to: 1, value: 0 },
        I::Copy { to: 2, from: 1 },
        I::ReadCell { to: 3, cell: 2 },
        I::Constant { to: 4, constant: 5 },
        I::Kernel { kernel: ADD, inputs: vec![3, 4], outputs: vec![5] },
        I::Drop { value: 3 },
        I::Drop { value: 4 },
        I::WriteCell { cell: 1, value: 5 },
        I::ReadCell { to: 6, cell: 2 },
        I::Drop { value: 2 },
        I::Tuple { to: 7, elements: vec![1, 6] },
        I::Return { value: 7 },
    ];
    let output = ValueType::Tuple(vec![ValueType::Cell(Box::new(tensor())), tensor()]);
    let program = native(&program(&[], output, vec![function("main", 0, code)]));
    assert_eq!(run(&program, &[]).to_string(), "(ref(tensor<i32> 9), tensor<i32> 9)");
}

#[test]
fn constructors_choose() {
    // The tag of the input's constructor decides; a third constructor would go where the last one goes.
    let code = vec![
        I::Constant { to: 0, constant: 1 },
        I::Construct { to: 1, data: 1, tag: 0, fields: vec![0] },
        I::Copy { to: 2, from: 1 },
        I::Construct { to: 3, data: 1, tag: 1, fields: vec![1, 2] },
        I::Switch { value: 3, targets: vec![5, 7] },
        I::Constant { to: 4, constant: 5 },
        I::Jump { target: 8 },
        I::Constant { to: 4, constant: 6 },
        I::Drop { value: 3 },
        I::Return { value: 4 },
    ];
    let program = native(&program(&[], tensor(), vec![function("main", 0, code)]));
    assert_eq!(run(&program, &[]), value(6));
}

#[test]
fn large_tensors_have_memory_of_their_own() {
    let code = vec![
        I::Kernel { kernel: DOUBLE, inputs: vec![0], outputs: vec![1] },
        I::Drop { value: 0 },
        I::Kernel { kernel: DOUBLE, inputs: vec![1], outputs: vec![2] },
        I::Drop { value: 1 },
        I::Kernel { kernel: DOUBLE, inputs: vec![2], outputs: vec![3] },
        I::Drop { value: 2 },
        I::Return { value: 3 },
    ];
    let ty = ValueType::Tensor(large());
    let program = native(&program(&[("x", ty.clone())], ty, vec![function("main", 1, code)]));
    let x: Vec<f32> = (0..600_000).map(|i| i as f32).collect();
    let tensor = fusion_operators::Tensor::from_slice(&[600_000], &x).unwrap();
    let wanted: Vec<f32> = x.iter().map(|x| x * 8.0).collect();
    for _ in 0..3 {
        let found = run(&program, &[ValueTree::tensor(tensor.clone())]);
        assert!(found.as_tensor().unwrap().to_vec::<f32>().unwrap() == wanted);
        // As a model, which borrows its input.
        assert!(
            program.module().run(std::slice::from_ref(&tensor)).unwrap()[0].to_vec::<f32>().unwrap()
                == wanted
        );
    }
}
