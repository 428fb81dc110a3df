//! Each rule that a program has to keep, broken once.

mod common;

use common::{function, list_sum, program};
use fusion_bytecode::{Extent, Instruction as I, Program, Said, Shapes, Step, ValueType};
use fusion_operators::{DType, Dim, TensorType};

fn said(program: &Program) -> String {
    program.check().unwrap_err().to_string()
}

/// What is said of a function of one parameter.
fn said_of(registers: u32, code: Vec<I>) -> String {
    said(&program(1, vec![function("f", 1, registers, code)]))
}

#[test]
fn a_program_that_keeps_the_rules_is_right() {
    assert_eq!(list_sum().check(), Ok(()));
}

#[test]
fn what_is_empty_is_neither_taken_nor_looked_at() {
    let taken = vec![I::Drop { value: 0 }, I::Return { value: 0 }];
    assert_eq!(
        said_of(1, taken),
        "the program is malformed: function @f, instruction 1 (return %0!): it takes register %0, which is empty"
    );
    let looked_at = vec![I::Copy { to: 1, from: 2 }, I::Return { value: 0 }];
    assert_eq!(
        said_of(3, looked_at),
        "the program is malformed: function @f, instruction 0 (%1 = copy %2): it looks at register %2, which is empty"
    );
    let twice = vec![I::Tuple { to: 1, elements: vec![0, 0] }, I::Return { value: 1 }];
    assert!(said_of(2, twice).ends_with("it takes register %0, which is empty"));
}

#[test]
fn what_is_full_is_not_written() {
    let written = vec![I::Constant { to: 0, constant: 0 }, I::Return { value: 0 }];
    assert_eq!(
        said_of(1, written),
        "the program is malformed: function @f, instruction 0 (%0 = constant #0): it writes register %0, which holds a value already"
    );
    let replaced = vec![I::Tuple { to: 0, elements: vec![0] }, I::Return { value: 0 }];
    assert_eq!(program(1, vec![function("f", 1, 1, replaced)]).check(), Ok(()));
}

#[test]
fn nothing_is_left_when_a_function_ends() {
    let code = vec![I::Copy { to: 1, from: 0 }, I::Return { value: 0 }];
    assert!(said_of(2, code).ends_with("the function ends while register %1 holds a value"));
    let failing = vec![I::Fail { message: "no".to_owned() }];
    assert_eq!(program(1, vec![function("f", 1, 1, failing)]).check(), Ok(()));
}

#[test]
fn ways_agree_where_they_meet() {
    let code =
        vec![I::JumpUnless { condition: 0, target: 2 }, I::Copy { to: 1, from: 0 }, I::Return { value: 0 }];
    assert_eq!(
        said_of(2, code),
        "the program is malformed: function @f, instruction 1 (%1 = copy %0): register %1 holds a value on this way to 2, \
         but is empty on another"
    );
    let code = vec![
        I::Copy { to: 1, from: 0 },
        I::JumpUnless { condition: 0, target: 3 },
        I::Drop { value: 1 },
        I::Return { value: 0 },
    ];
    assert!(said_of(2, code).contains("register %1 "));
}

#[test]
fn loops_keep_what_is_full() {
    let code = vec![I::Copy { to: 1, from: 0 }, I::Jump { target: 0 }];
    assert!(
        said_of(2, code).ends_with("register %1 holds a value on this way to 0, but is empty on another")
    );
    assert_eq!(program(1, vec![function("f", 1, 1, vec![I::Jump { target: 0 }])]).check(), Ok(()));
}

#[test]
fn functions_end() {
    assert_eq!(
        said_of(2, vec![I::Copy { to: 1, from: 0 }]),
        "the program is malformed: function @f does not end: nothing follows its last instruction"
    );
    assert!(said_of(1, vec![]).contains("does not end"));
}

#[test]
fn names_are_in_range() {
    let ends = |code: Vec<I>, end: &str| {
        let said = said_of(2, code);
        assert!(said.ends_with(end), "{said}");
    };
    let back = I::Return { value: 0 };
    ends(vec![I::Drop { value: 7 }, back.clone()], "it names register %7, but the function has 2");
    ends(vec![I::Jump { target: 2 }], "it goes to 2, but the function has 1 instructions");
    ends(vec![I::Constant { to: 1, constant: 9 }, back.clone()], "it names constant 9, but there are 1");
    ends(vec![I::TailCall { function: 3, arguments: vec![0] }], "it names function 3, but there are 1");
    ends(vec![I::TailCall { function: 0, arguments: vec![] }], "the parameters of @f are 1, but 0 are given");
    ends(
        vec![I::Construct { to: 1, data: 0, tag: 2, fields: vec![] }, back.clone()],
        "it names constructor 2, but there are 2",
    );
    ends(
        vec![I::Construct { to: 1, data: 0, tag: 1, fields: vec![] }, back.clone()],
        "the fields of Cons are 2, but 0 are given",
    );
    ends(
        vec![I::Kernel { kernel: 0, inputs: vec![0], outputs: vec![1] }, back.clone()],
        "the inputs of add are 2, but 1 are given",
    );
    ends(
        vec![I::Closure { to: 1, function: 0, captured: vec![0, 0] }, back.clone()],
        "@f takes 1, but 2 are bound",
    );
    ends(vec![I::Switch { value: 0, targets: vec![] }], "it goes nowhere");
    let operator = |operator: &str| I::Operator {
        operator: operator.to_owned(),
        attributes: Default::default(),
        inputs: vec![0],
        outputs: vec![1],
    };
    ends(vec![operator("abracadabra"), back.clone()], "there is no operator \"abracadabra\"");
    ends(vec![operator("add"), back], "relay.add does not take 1 operands and give 1 results");
}

#[test]
fn the_whole_fits_together() {
    let mut wrong = list_sum();
    wrong.entry = 5;
    assert!(said(&wrong).ends_with("it starts with function 5, but has 1 functions"));
    let mut wrong = list_sum();
    wrong.inputs.clear();
    assert!(said(&wrong).ends_with("it has 0 inputs, but its first function @sum takes 1"));
    let mut wrong = list_sum();
    wrong.inputs[0].1 = ValueType::Data(4, vec![]);
    assert!(said(&wrong).ends_with("its input \"l\" is of data type 4, but there are 1"));
    let mut wrong = list_sum();
    wrong.kernels[0].inputs[0] = TensorType::new(vec![Dim::Any], DType::F32);
    assert!(
        said(&wrong).ends_with(
            "kernel add has a tensor<?xf32>, but no shape function that says what its extents are"
        )
    );
    let mut wrong = list_sum();
    wrong.functions[0].registers = u32::MAX;
    assert!(said(&wrong).contains("function @sum has 4294967295 registers"));
    let mut wrong = list_sum();
    wrong.functions[0].places.push(String::new());
    assert!(said(&wrong).ends_with("has 12 instructions, but 1 places in the source"));
}

#[test]
fn checking_takes_time_in_proportion() {
    // Each instruction looks at the same register, on ways that branch and meet all the time.
    let long = |n: u32| {
        let mut code = Vec::new();
        for i in 0..n {
            code.push(I::JumpUnless { condition: 0, target: 2 * i + 2 });
            code.push(I::Jump { target: 2 * i + 2 });
        }
        code.push(I::Return { value: 0 });
        program(1, vec![function("f", 1, 1, code)])
    };
    // Were it not so, this would take minutes.
    long(200_000).check().unwrap();
}

#[test]
fn shape_functions_look_back_and_say_all_extents() {
    let named = |name: &str| TensorType::new(vec![Dim::Symbol(name.to_owned())], DType::F32);
    let with = |steps: Vec<Step>, output: TensorType| {
        let mut program = list_sum();
        program.kernels[0].inputs[0] = named("n0");
        program.kernels[0].outputs[0] = output;
        program.kernels[0].shapes = Some(Shapes { steps, temporaries: vec![] });
        program
    };
    let first = || Step::Input { input: 0, axis: 0 };
    let sum = |a, b| Step::Plus(Extent::Step(a), Extent::Step(b));
    assert_eq!(with(vec![first(), sum(0, 0)], named("n1")).check(), Ok(()));
    let later = with(vec![first(), sum(0, 1)], named("n1"));
    assert!(said(&later).ends_with("step 1 of its shape function looks at a later one"));
    let beyond = with(vec![Step::Input { input: 0, axis: 1 }], named("n0"));
    assert!(said(&beyond).ends_with("step 0 of its shape function takes extent 1 of input 0"));
    let said_of_it = Said { place: String::new(), text: "needs a number".to_owned() };
    let no_number = with(vec![Step::Value { input: 0, said: said_of_it }], named("n0"));
    assert!(
        said(&no_number).ends_with("step 0 of its shape function reads input 0, which is no number of i64")
    );
    let unnamed = with(vec![first()], named("n1"));
    assert!(said(&unnamed).ends_with("its shape function does not give the extents of a tensor<n1xf32>"));
}

#[test]
fn shape_functions_are_printed() {
    let mut program = list_sum();
    let named = TensorType::new(vec![Dim::Symbol("n0".to_owned())], DType::F32);
    program.kernels[0].inputs[0] = named.clone();
    let steps = vec![Step::Input { input: 0, axis: 0 }, Step::Times(Extent::Step(0), Extent::Known(3))];
    program.kernels[0].shapes = Some(Shapes { steps, temporaries: vec![named] });
    let text = program.to_string();
    assert!(
        text.contains("  n0 = extent 0 of input 0\n  n1 = n0 * 3\n  temporary tensor<n0xf32>\n"),
        "{text}"
    );
}
