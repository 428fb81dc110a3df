//! Values that go in and come out; tensors whose extents are known at run time only.

use super::programs::*;
use fusion_bytecode::{Instruction as I, Program, ValueType};
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType, ValueTree};

fn open() -> TensorType {
    TensorType::new(vec![Dim::Symbol("n".to_owned()), Dim::Static(2)], DType::F32)
}

fn rows(n: usize) -> ValueTree {
    let elements: Vec<f32> = (0..2 * n).map(|i| i as f32).collect();
    ValueTree::tensor(Tensor::from_slice(&[n, 2], &elements).unwrap())
}

fn dynamic() -> Program {
    let main = vec![
        I::CheckTypes { values: vec![0, 1], types: vec![open(), open()] },
        I::Operator {
            operator: "concat".to_owned(),
            attributes: Attrs::new().with("axis", 0),
            inputs: vec![0, 1],
            outputs: vec![2],
        },
        I::Drop { value: 0 },
        I::Drop { value: 1 },
        I::Return { value: 2 },
    ];
    let any = || ValueType::Tensor(TensorType::new(vec![Dim::Any, Dim::Any], DType::F32));
    program(&[("x", any()), ("y", any())], vec![function("main", 2, 3, main)])
}

#[test]
fn operators_run_on_any_extents() {
    let mut machine = machine(dynamic());
    let two = machine.run(&[rows(1), rows(1)]).unwrap();
    assert_eq!(two.to_string(), "tensor<2x2xf32> [[0.0, 1.0], [0.0, 1.0]]");
    let ten = machine.run(&[rows(5), rows(5)]).unwrap();
    assert_eq!(ten.as_tensor().unwrap().shape(), [10, 2]);
    assert_eq!(machine.live(), 0);
}

#[test]
fn checks_name_both_types() {
    let mut machine = machine(dynamic());
    let said = machine.run(&[rows(1), rows(3)]).unwrap_err().to_string();
    assert_eq!(
        said,
        "test.relay:1:1: in @main: expected a tensor<nx2xf32> with n = 1, found a tensor<3x2xf32>"
    );
    assert_eq!(machine.live(), 0);
}

#[test]
fn operators_check_their_operands() {
    let main = vec![
        I::Operator {
            operator: "add".to_owned(),
            attributes: Attrs::new(),
            inputs: vec![0, 1],
            outputs: vec![2],
        },
        I::Drop { value: 0 },
        I::Drop { value: 1 },
        I::Return { value: 2 },
    ];
    let any = || ValueType::Tensor(TensorType::new(vec![Dim::Any, Dim::Any], DType::F32));
    let mut machine = machine(program(&[("x", any()), ("y", any())], vec![function("main", 2, 3, main)]));
    let said = machine.run(&[rows(2), rows(3)]).unwrap_err().to_string();
    assert!(said.starts_with("test.relay:1:1: in @main: relay.add violates constraint C"), "{said}");
    assert_eq!(machine.live(), 0);
}

#[test]
fn inputs_are_checked() {
    let mut machine = machine(sum());
    let mut said = |inputs: &[ValueTree]| machine.run(inputs).unwrap_err().to_string();
    let list = "input \"l\" of the program does not have the type List[tensor<i32>]";
    assert_eq!(said(&[]), "the program takes 1 inputs (l), but 0 were given");
    assert_eq!(said(&[value(1)]), format!("{list}: expected List[tensor<i32>], found tensor<i32>"));
    let said_of = said(&[ValueTree::data("Kons", vec![])]);
    assert_eq!(said_of, format!("{list}: List has no constructor Kons"));
    let short = said(&[ValueTree::data("Cons", vec![value(1)])]);
    assert_eq!(short, format!("{list}: the constructor Cons takes 2 fields, found 1"));
    assert_eq!(machine.live(), 0);
}

#[test]
fn inputs_of_another_shape_are_refused() {
    let mut machine = machine(countdown());
    let float = ValueTree::tensor(Tensor::zeros(DType::F32, &[2]).unwrap());
    assert_eq!(
        machine.run(&[float]).unwrap_err().to_string(),
        "input \"n\" of the program has another type: expected a tensor<i32>, found a tensor<2xf32>"
    );
}
