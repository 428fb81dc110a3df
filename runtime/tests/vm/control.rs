//! Calls, tail calls, closures, matching, loops.

use super::programs::*;
use fusion_bytecode::{Instruction as I, ValueType};

#[test]
fn tail_calls_run_in_constant_space() {
    let limits = fusion_runtime::vm::Limits { depth: 1, bytes: 1 << 20, ..Default::default() };
    let mut machine = limited(countdown(), limits);
    assert_eq!(machine.run(&[value(300_000)]).unwrap(), value(0));
    assert_eq!(machine.live(), 0);
}

#[test]
fn deep_recursion_needs_no_stack() {
    let mut machine = machine(sum());
    let values = list((0..100_000).map(|i| i % 7));
    let total = (0..100_000).map(|i| i % 7).sum();
    assert_eq!(machine.run(&[values]).unwrap(), value(total));
    assert_eq!((machine.live(), machine.leaked()), (0, 0));
}

#[test]
fn closures_bind_first_parameters() {
    let main = vec![
        I::Closure { to: 1, function: 1, captured: vec![0] },
        I::Copy { to: 2, from: 1 },
        I::Constant { to: 3, constant: 1 },
        I::Apply { to: 3, closure: 2, arguments: vec![3] },
        I::TailApply { closure: 1, arguments: vec![3] },
    ];
    let subtract = vec![
        I::Kernel { kernel: SUBTRACT, inputs: vec![0, 1], outputs: vec![2] },
        I::Drop { value: 0 },
        I::Drop { value: 1 },
        I::Return { value: 2 },
    ];
    let functions = vec![function("main", 1, 4, main), function("subtract", 2, 3, subtract)];
    let mut machine = machine(program(&[("x", ValueType::Tensor(int()))], functions));
    // 10 - (10 - 1)
    assert_eq!(machine.run(&[value(10)]).unwrap(), value(1));
    assert_eq!(machine.live(), 0);
}

#[test]
fn functions_call_one_another() {
    // even(n) = if n > 0 { odd(n - 1) } else { 1 }; odd(n) = if n > 0 { even(n - 1) } else { 0 }
    let body = |other, constant| {
        vec![
            I::Kernel { kernel: POSITIVE, inputs: vec![0], outputs: vec![1] },
            I::JumpUnless { condition: 1, target: 7 },
            I::Drop { value: 1 },
            I::Constant { to: 1, constant: 1 },
            I::Kernel { kernel: SUBTRACT, inputs: vec![0, 1], outputs: vec![2] },
            I::Drop { value: 0 },
            I::Jump { target: 11 },
            I::Drop { value: 0 },
            I::Drop { value: 1 },
            I::Constant { to: 0, constant },
            I::Return { value: 0 },
            I::Drop { value: 1 },
            I::TailCall { function: other, arguments: vec![2] },
        ]
    };
    let functions = vec![function("even", 1, 3, body(1, 1)), function("odd", 1, 3, body(0, 0))];
    let mut machine = machine(program(&[("n", ValueType::Tensor(int()))], functions));
    assert_eq!(machine.run(&[value(10)]).unwrap(), value(1));
    assert_eq!(machine.run(&[value(7)]).unwrap(), value(0));
}

#[test]
fn cells_hold_what_was_written_last() {
    let main = vec![
        I::NewCell { to: 1, value: 0 },
        I::Copy { to: 2, from: 1 },
        I::Constant { to: 3, constant: 1 },
        I::ReadCell { to: 0, cell: 1 },
        I::Kernel { kernel: ADD, inputs: vec![0, 3], outputs: vec![4] },
        I::WriteCell { cell: 2, value: 4 },
        I::ReadCell { to: 4, cell: 1 },
        I::Drop { value: 1 },
        I::Drop { value: 2 },
        I::Drop { value: 3 },
        I::Tuple { to: 0, elements: vec![0, 4] },
        I::Return { value: 0 },
    ];
    let mut machine =
        machine(program(&[("x", ValueType::Tensor(int()))], vec![function("main", 1, 5, main)]));
    assert_eq!(machine.run(&[value(4)]).unwrap().to_string(), "(tensor<i32> 4, tensor<i32> 5)");
    assert_eq!((machine.live(), machine.leaked()), (0, 0));
}

/// How fast the machine is: `cargo test -p fusion-runtime --test vm -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn instructions_per_second() {
    let mut machine = machine(countdown());
    let (steps, instructions) = (10_000_000, 9);
    let start = std::time::Instant::now();
    assert_eq!(machine.run(&[value(steps)]).unwrap(), value(0));
    let seconds = start.elapsed().as_secs_f64();
    let each = seconds * 1e9 / f64::from(steps);
    let rate = f64::from(steps) * f64::from(instructions) / seconds / 1e6;
    println!(
        "{each:.1} ns a step of {instructions} instructions, 2 of them kernels: {rate:.0} million a second"
    );
}
