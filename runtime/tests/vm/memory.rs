//! Nothing is left after a run, nothing is asked of the system in loops, nothing overflows.

use super::programs::*;
use fusion_bytecode::{Instruction as I, ValueType};
use fusion_runtime::vm::Limits;

#[test]
fn long_lists_are_built_matched_and_freed() {
    let mut machine = machine(range());
    let built = machine.run(&[value(200_000)]).unwrap();
    assert_eq!(built.items.len(), 400_001);
    assert_eq!((machine.live(), machine.leaked()), (0, 0));
    let small = machine.run(&[value(2)]).unwrap();
    assert_eq!(small.to_string(), "Cons(tensor<i32> 1, Cons(tensor<i32> 2, Nil))");
}

#[test]
fn a_thousand_runs_leave_nothing() {
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let (mut building, mut summing) = (limited(range(), limits), limited(sum(), limits));
    for _ in 0..1000 {
        let built = building.run(&[value(50)]).unwrap();
        assert_eq!(summing.run(&[built]).unwrap(), value(1275));
        assert_eq!(building.live() + summing.live() + building.leaked() + summing.leaked(), 0);
    }
}

#[test]
fn what_owns_itself_goes_with_the_run() {
    let main = vec![
        I::Construct { to: 0, data: 0, tag: NIL, fields: vec![] },
        I::NewCell { to: 0, value: 0 },
        I::Constant { to: 1, constant: 1 },
        I::Copy { to: 2, from: 0 },
        I::Tuple { to: 1, elements: vec![1, 2] },
        I::WriteCell { cell: 0, value: 1 },
        I::Return { value: 0 },
    ];
    let mut machine = machine(program(&[], vec![function("main", 0, 3, main)]));
    for _ in 0..3 {
        assert_eq!(machine.run(&[]).unwrap().to_string(), "ref((tensor<i32> 1, ...))");
        assert_eq!((machine.leaked(), machine.live()), (2, 0));
    }
}

#[test]
fn failures_leave_nothing() {
    let limits = Limits { depth: 1000, ..Limits::default() };
    let mut machine = limited(sum(), limits);
    let said = machine.run(&[list(0..2000)]).unwrap_err().to_string();
    assert_eq!(
        said,
        "test.relay:8:1: in @sum: the recursion is deeper than 1000 calls; write it with a tail call, or allow more"
    );
    assert_eq!((machine.leaked(), machine.live()), (0, 0));
    assert_eq!(machine.run(&[list(0..10)]).unwrap(), value(45));
}

#[test]
fn memory_is_bounded() {
    let mut machine = limited(range(), Limits { bytes: 1 << 20, ..Limits::default() });
    let said = machine.run(&[value(1_000_000)]).unwrap_err().to_string();
    assert!(said.contains("in @range: there is no memory for "), "{said}");
    assert_eq!((machine.leaked(), machine.live()), (0, 0));
    assert_eq!(machine.run(&[value(0)]).unwrap().to_string(), "Nil");
}

#[test]
fn endless_loops_are_given_up() {
    let main = vec![I::Jump { target: 0 }];
    let mut machine = limited(
        program(&[], vec![function("main", 0, 0, main)]),
        Limits { steps: 1000, ..Limits::default() },
    );
    let said = machine.run(&[]).unwrap_err().to_string();
    assert_eq!(said, "test.relay:1:1: in @main: the program takes more than 1000 calls and jumps");
}

#[test]
fn kernels_get_aligned_memory() {
    use fusion_operators::{DType, Tensor, TensorType, ValueTree};
    let main = vec![
        I::Kernel { kernel: TWICE, inputs: vec![0], outputs: vec![1, 2] },
        I::Drop { value: 0 },
        I::Tuple { to: 0, elements: vec![1, 2] },
        I::Return { value: 0 },
    ];
    let ty = ValueType::Tensor(TensorType::fixed(&[4], DType::F32));
    let mut machine = machine(program(&[("x", ty)], vec![function("main", 1, 3, main)]));
    let x = Tensor::from_slice(&[4], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let y = machine.run(&[ValueTree::tensor(x)]).unwrap();
    assert_eq!(y.to_string(), "(tensor<4xf32> [2.0, 4.0, 6.0, 8.0], tensor<f32> 10.0)");
}
