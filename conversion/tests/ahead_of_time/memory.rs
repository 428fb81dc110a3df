//! Stack and memory: tail calls, deep recursion, long lists, many runs, several threads.

use super::common::*;
use fusion_bytecode::{Function, Instruction as I, Program, ValueType};

/// `@count(n, sum)`: sum when n < 1, else itself of n - 1 and sum + 1.
fn count(id: u32, tail: bool) -> Function {
    let call = match tail {
        true => vec![I::TailCall { function: id, arguments: vec![4, 5] }],
        false => vec![I::Call { to: 6, function: id, arguments: vec![4, 5] }, I::Return { value: 6 }],
    };
    let mut code = vec![
        I::Constant { to: 2, constant: 1 },
        I::Kernel { kernel: LESS, inputs: vec![0, 2], outputs: vec![3] },
        I::JumpUnless { condition: 3, target: 7 },
        I::Drop { value: 3 },
        I::Drop { value: 0 },
        I::Drop { value: 2 },
        I::Return { value: 1 },
        I::Drop { value: 3 },
        I::Kernel { kernel: SUB, inputs: vec![0, 2], outputs: vec![4] },
        I::Drop { value: 0 },
        I::Kernel { kernel: ADD, inputs: vec![1, 2], outputs: vec![5] },
        I::Drop { value: 1 },
        I::Drop { value: 2 },
    ];
    code.extend(call);
    function("count", 2, code)
}

fn counting(tail: bool) -> Program {
    let main = vec![I::Constant { to: 1, constant: 0 }, I::TailCall { function: 1, arguments: vec![0, 1] }];
    program(&[("n", tensor())], tensor(), vec![function("main", 1, main), count(1, tail)])
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Runs `measure` in a process of its own, as the tests beside this one use memory too.
fn alone(test: &str, measure: impl FnOnce()) {
    const ALONE: &str = "FUSION_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return measure();
    }
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this).args(["--exact", test]).env(ALONE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn tail_calls_need_no_stack() {
    alone("ahead_of_time::memory::tail_calls_need_no_stack", || {
        let program = native(&counting(true));
        run(&program, &[value(1000)]);
        let before = resident();
        assert_eq!(run(&program, &[value(10_000_000)]), value(10_000_000));
        let grown = resident().saturating_sub(before);
        assert!(grown < 8 << 20, "{grown}");
    });
}

/// `@count(n, 1, 1, 1, 1, 1, 1, sum)`: as [`count`], with more arguments than registers pass.
fn count_by_eight() -> Program {
    let ones = |from: u32| (from..from + 6).map(|to| I::Constant { to, constant: 1 });
    let mut main = vec![I::Constant { to: 1, constant: 0 }];
    main.extend(ones(2));
    main.push(I::TailCall { function: 1, arguments: vec![0, 2, 3, 4, 5, 6, 7, 1] });
    let mut code = vec![
        I::Kernel { kernel: LESS, inputs: vec![0, 1], outputs: vec![8] },
        I::JumpUnless { condition: 8, target: 11 },
        I::Drop { value: 8 },
        I::Drop { value: 0 },
    ];
    code.extend((1..7).map(|value| I::Drop { value }));
    code.push(I::Return { value: 7 });
    code.push(I::Drop { value: 8 });
    code.push(I::Kernel { kernel: SUB, inputs: vec![0, 1], outputs: vec![9] });
    code.push(I::Kernel { kernel: ADD, inputs: vec![7, 6], outputs: vec![10] });
    code.extend([0, 7].map(|value| I::Drop { value }));
    code.push(I::TailCall { function: 1, arguments: vec![9, 1, 2, 3, 4, 5, 6, 10] });
    program(&[("n", tensor())], tensor(), vec![function("main", 1, main), function("count", 8, code)])
}

#[test]
fn tail_calls_with_arguments_on_the_stack_need_no_more_of_it() {
    alone("ahead_of_time::memory::tail_calls_with_arguments_on_the_stack_need_no_more_of_it", || {
        let program = native(&count_by_eight());
        run(&program, &[value(1000)]);
        let before = resident();
        assert_eq!(run(&program, &[value(3_000_000)]), value(3_000_000));
        let grown = resident().saturating_sub(before);
        assert!(grown < 8 << 20, "{grown}");
    });
}

#[test]
fn a_hundred_thousand_calls_wait_for_each_other() {
    let program = native(&counting(false));
    assert_eq!(run(&program, &[value(1_000_000)]), value(1_000_000));
    assert!(error(&program, &[value(100_000_000)]).contains("the stack of 256 MiB is used up"));
    assert_eq!(run(&program, &[value(100_000)]), value(100_000));
}

/// `@main(n)`: the sum of a list of n ones, which is built and matched by tail calls.
fn list_sum() -> Program {
    let main = vec![
        I::Construct { to: 1, data: 0, tag: 0, fields: vec![] },
        I::Call { to: 2, function: 1, arguments: vec![0, 1] },
        I::Copy { to: 3, from: 2 },
        I::Constant { to: 4, constant: 0 },
        I::Call { to: 5, function: 2, arguments: vec![2, 4] },
        I::Drop { value: 3 },
        I::Return { value: 5 },
    ];
    let build = vec![
        I::Constant { to: 2, constant: 1 },
        I::Kernel { kernel: LESS, inputs: vec![0, 2], outputs: vec![3] },
        I::JumpUnless { condition: 3, target: 7 },
        I::Drop { value: 3 },
        I::Drop { value: 0 },
        I::Drop { value: 2 },
        I::Return { value: 1 },
        I::Drop { value: 3 },
        I::Kernel { kernel: SUB, inputs: vec![0, 2], outputs: vec![4] },
        I::Drop { value: 0 },
        I::Construct { to: 5, data: 0, tag: 1, fields: vec![2, 1] },
        I::TailCall { function: 1, arguments: vec![4, 5] },
    ];
    let sum = vec![
        I::Switch { value: 0, targets: vec![1, 3] },
        I::Drop { value: 0 },
        I::Return { value: 1 },
        I::Field { to: 2, from: 0, index: 0 },
        I::Field { to: 3, from: 0, index: 1 },
        I::Drop { value: 0 },
        I::Kernel { kernel: ADD, inputs: vec![1, 2], outputs: vec![4] },
        I::Drop { value: 1 },
        I::Drop { value: 2 },
        I::TailCall { function: 2, arguments: vec![3, 4] },
    ];
    let functions = vec![function("main", 1, main), function("build", 2, build), function("sum", 2, sum)];
    program(&[("n", tensor())], tensor(), functions)
}

#[test]
fn long_lists_are_built_matched_and_freed() {
    let program = native(&list_sum());
    for n in [0, 1, 100_000, 1_000_000] {
        let start = std::time::Instant::now();
        assert_eq!(run(&program, &[value(n)]), value(n));
        eprintln!("a list of {n}: {:?}", start.elapsed());
    }
}

#[test]
fn long_lists_are_given() {
    let mut program = list_sum();
    program.functions[0].code = vec![
        I::Construct { to: 1, data: 0, tag: 0, fields: vec![] },
        I::TailCall { function: 1, arguments: vec![0, 1] },
    ];
    program.functions[0].places.truncate(2);
    program.output = ValueType::Data(0, vec![tensor()]);
    let program = native(&program);
    assert_eq!(run(&program, &[value(2)]).to_string(), "Cons(tensor<i32> 1, Cons(tensor<i32> 1, Nil))");
    assert_eq!(numbers(&run(&program, &[value(100_000)])), vec![1; 100_000]);
}

/// `@main(n)`: the sum of a tree with n leaves, of which every left part is a leaf; or every right one.
fn tree_sum(left: bool) -> Program {
    let main = vec![
        I::Constant { to: 1, constant: 1 },
        I::Construct { to: 2, data: 1, tag: 0, fields: vec![1] },
        I::Call { to: 3, function: 1, arguments: vec![0, 2] },
        I::Copy { to: 4, from: 3 },
        I::Call { to: 5, function: 2, arguments: vec![3] },
        I::Drop { value: 4 },
        I::Return { value: 5 },
    ];
    let fields = if left { vec![6, 1] } else { vec![1, 6] };
    let build = vec![
        I::Constant { to: 2, constant: 2 },
        I::Kernel { kernel: LESS, inputs: vec![0, 2], outputs: vec![3] },
        I::Drop { value: 2 },
        I::JumpUnless { condition: 3, target: 7 },
        I::Drop { value: 3 },
        I::Drop { value: 0 },
        I::Return { value: 1 },
        I::Drop { value: 3 },
        I::Constant { to: 4, constant: 1 },
        I::Kernel { kernel: SUB, inputs: vec![0, 4], outputs: vec![5] },
        I::Drop { value: 0 },
        I::Construct { to: 6, data: 1, tag: 0, fields: vec![4] },
        I::Construct { to: 7, data: 1, tag: 1, fields },
        I::TailCall { function: 1, arguments: vec![5, 7] },
    ];
    let sum = vec![
        I::Switch { value: 0, targets: vec![1, 4] },
        I::Field { to: 1, from: 0, index: 0 },
        I::Drop { value: 0 },
        I::Return { value: 1 },
        I::Field { to: 2, from: 0, index: 0 },
        I::Field { to: 3, from: 0, index: 1 },
        I::Drop { value: 0 },
        I::Call { to: 4, function: 2, arguments: vec![2] },
        I::Call { to: 5, function: 2, arguments: vec![3] },
        I::Kernel { kernel: ADD, inputs: vec![4, 5], outputs: vec![6] },
        I::Drop { value: 4 },
        I::Drop { value: 5 },
        I::Return { value: 6 },
    ];
    let functions = vec![function("main", 1, main), function("build", 2, build), function("sum", 1, sum)];
    program(&[("n", tensor())], tensor(), functions)
}

#[test]
fn deep_trees_are_built_matched_and_freed() {
    for left in [true, false] {
        let program = native(&tree_sum(left));
        for n in [1, 2, 100_000] {
            assert_eq!(run(&program, &[value(n)]), value(n));
        }
    }
}

#[test]
fn a_thousand_runs_need_no_more_memory_than_ten() {
    alone("ahead_of_time::memory::a_thousand_runs_need_no_more_memory_than_ten", || {
        let program = native(&list_sum());
        let many = |runs: usize| {
            for _ in 0..runs {
                assert_eq!(run(&program, &[value(1000)]), value(1000));
            }
            resident()
        };
        let few = many(10);
        let grown = many(1000).saturating_sub(few);
        assert!(grown < 4 << 20, "{grown}");
    });
}

#[test]
fn threads_run_a_program_at_once() {
    let program = native(&tree_sum(true));
    std::thread::scope(|scope| {
        for n in 1..5 {
            let program = &program;
            scope.spawn(move || {
                (0..50).for_each(|_| assert_eq!(program.call(&[value(n * 100)]).unwrap(), value(n * 100)));
            });
        }
    });
    assert_eq!(program.live_values(), 0);
}
