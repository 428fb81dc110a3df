//! What programs look like.

mod common;

use fusion_bytecode::{Instruction, Program};
use fusion_operators::random::{Random, seed, seeds};
use fusion_operators::{Attr, Attrs, DType, Dim, Tensor, TensorType};

#[test]
fn a_program_reads_line_by_line() {
    let expected = "\
data @List {Nil, Cons(%0, List[%0])}
constant #0 = tensor<i32> 0
kernel @add(tensor<i32>, tensor<i32>) -> (tensor<i32>) 0 bytes of workspace
range n = 8..64:8
entry @main(l: List[tensor<i32>]) -> tensor<i32>

function @main(%0) 6 registers
   0: %1 = constant #0                         // list.relay:1:3
   1: %2 = copy %1                             // list.relay:2:3
   2: %3 = kernel @add(%1, %2)                 // list.relay:3:3
   3: %4 = operator concat(%1, %2) {axis = 0, pads = [1, 2], to = bf16} // list.relay:4:3
   4: check-types %1: tensor<i32>, %4: tensor<nx?xf32> // list.relay:5:3
   5: %5 = move %4!                            // list.relay:6:3
   6: %4 = tuple(%5!, %3!)                     // list.relay:7:3
   7: %3 = field %4.1                          // list.relay:8:3
   8: %4 = construct @List::Cons(%4!, %3!)     // list.relay:9:3
   9: %4 = new-cell %4!                        // list.relay:10:3
  10: %3 = read-cell %4                        // list.relay:11:3
  11: write-cell %4, %3!                       // list.relay:12:3
  12: %3 = closure @pair(%4!)                  // list.relay:13:3
  13: %3 = apply %3!(%1!)                      // list.relay:14:3
  14: %3 = call @pair(%2!, %3!)                // list.relay:15:3
  15: jump-unless %0, 17                       // list.relay:16:3
  16: switch %3 [17, 21]                       // list.relay:17:3
  17: drop %3!                                 // list.relay:18:3
  18: %1 = closure @main()                     // list.relay:19:3
  19: jump 20                                  // list.relay:20:3
  20: tail-apply %1!(%0!)                      // list.relay:21:3
  21: tail-call @pair(%0!, %3!)                // list.relay:22:3

function @pair(%0, %1) 2 registers
   0: %0 = tuple(%0!, %1!)
   1: jump-unless %0, 3
   2: return %0!
   3: fail \"no case \\\"fits\\\"\"
";
    let program = common::everything();
    assert_eq!(program.check(), Ok(()));
    assert_eq!(program.to_string(), expected);
}

/// What is printed in full gives the program back.
fn comes_back(program: &Program) {
    let text = format!("{program:#}");
    match Program::parse(&text) {
        Ok(found) => assert_eq!(&found, program, "{text}"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn what_is_printed_is_read_back() {
    comes_back(&common::everything());
    comes_back(&common::list_sum());
}

#[test]
fn strings_come_back() {
    let mut program = common::list_sum();
    program.strings = ["", "a // b", "\"\\\n", "é\u{1f600}"].map(str::to_owned).to_vec();
    program.constants.push(Tensor::from_strings(&[], &["a // b"]).unwrap());
    let many: Vec<String> = (0..1200).map(|i| format!("{i}")).collect();
    program.constants.push(Tensor::from_strings(&[1200], &many).unwrap());
    comes_back(&program);
    program.strings.push(String::new());
    let wrong = program.check().unwrap_err().to_string();
    assert_eq!(wrong, "the program is malformed: the string \"\" stands twice in its list");
}

#[test]
fn names_that_are_no_words_come_back() {
    let mut program = common::everything();
    program.functions[1].name = "main".to_owned();
    program.functions[0].places[3] = "a \"file\"\n:1:2 ".to_owned();
    program.data[0].name = "tensor".to_owned();
    program.data[0].constructors[1].name = "x y".to_owned();
    program.kernels.push(program.kernels[0].clone());
    program.inputs[0].0 = "the list".to_owned();
    let odd = ["max", "3", "", "f32"].map(|name| Dim::Symbol(name.to_owned()));
    program.functions[0].code[4] =
        Instruction::CheckTypes { values: vec![1], types: vec![TensorType::new(odd.to_vec(), DType::F16)] };
    comes_back(&program);
}

#[test]
fn large_constants_have_their_bytes_in_the_full_form() {
    let mut program = common::list_sum();
    let numbers: Vec<f32> = (0..40).map(|i| i as f32 / 7.0).collect();
    program.constants.push(Tensor::from_slice(&[4, 10], &numbers).unwrap());
    program.constants.push(Tensor::from_slice(&[0, 10], &numbers[..0]).unwrap());
    comes_back(&program);
    let error = Program::parse(&program.to_string()).unwrap_err().to_string();
    assert_eq!(error, "3:15: the elements of this constant are left out; print the program in full");
}

#[test]
fn attributes_come_back() {
    let mut program = common::everything();
    let attributes = Attrs::new()
        .with("empty", Attr::Ints(vec![]))
        .with("none", Attr::Floats(vec![]))
        .with("floats", Attr::Floats(vec![1.0, -1e-30, f64::INFINITY, -2.5e300]))
        .with("float", Attr::Float(-0.5))
        .with("small", Attr::Float(1e-7))
        .with("int", Attr::Int(i64::MIN))
        .with("text", Attr::Str("a \\ \"b\" // {c}\t\u{7f}".to_owned()))
        .with("truth", Attr::Bool(false))
        .with("odd name", Attr::Type(DType::U16));
    if let Instruction::Operator { attributes: old, .. } = &mut program.functions[0].code[3] {
        *old = attributes;
    }
    comes_back(&program);
}

/// Random programs, which need not keep the rules.
#[test]
fn random_programs_come_back() {
    for seed in seeds(500) {
        comes_back(&common::random(seed));
    }
}

#[test]
fn errors_name_line_and_column() {
    let whole = format!("{:#}", common::list_sum());
    let error = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        Program::parse(&whole.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert_eq!(error("call @sum(%2!)", "call @add(%2!)"), "14:18: there is no function \"add\"");
    assert_eq!(error("call @sum(%2!)", "call @sum(%2)"), "14:24: expected !, found )");
    assert_eq!(error("field %0.1", "filed %0.1"), "12:12: there is no instruction \"filed\"");
    assert_eq!(error("   5: ", "   6: "), "12:5: this is instruction 5 of @sum, not 6");
    assert_eq!(error("{Nil, Cons(", "{Nil Cons("), "1:17: expected ,, found Cons(%0,");
    assert_eq!(error("List[%0])}", "Tree[%0])}"), "1:27: there is no data type \"Tree\"");
    assert_eq!(error("tensor<i32> 0", "tensor<i32> x"), "2:27: x is no number of type i32");
    assert_eq!(
        error("entry", "start"),
        "4:1: a line begins with data, string, constant, kernel, range, entry, function or the number of an instruction, found start"
    );
    assert_eq!(
        Program::parse("data @A {B}").unwrap_err().to_string(),
        "1:1: the program has no line entry @FUNCTION(INPUT: TYPE, ...) -> TYPE"
    );
}

/// Damaged texts are refused or read; nothing panics.
#[test]
fn damaged_texts_are_refused() {
    let whole = format!("{:#}", common::everything());
    let mut random = Random::new(seed(7));
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    for _ in 0..20_000 {
        let mut characters: Vec<char> = whole.chars().collect();
        for _ in 0..1 + below(3) {
            if characters.is_empty() {
                break;
            }
            let at = below(characters.len());
            match below(3) {
                0 => characters[at] = ['%', '"', '(', '#', '9', 'x', '\\', 'é'][below(8)],
                1 => drop(characters.remove(at)),
                _ => characters.truncate(at + 1),
            }
        }
        let text: String = characters.into_iter().collect();
        if let Ok(program) = Program::parse(&text) {
            let _ = program.check();
        }
    }
}
