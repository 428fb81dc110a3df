//! Programs of the language run in every way there is, and give the same values.

use fusion_operators::Tensor;
use fusion_runtime::npz;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The ways to run any program; the first is the judge of the others.
const EXECUTORS: &[&str] = &["interp", "vm", "aot"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a program prints. The kernels are kept by nobody: tests do not depend on what ran before.
fn run(program: &Path, executor: &str) -> String {
    run_with(program, &["--executor", executor])
}

fn run_with(program: &Path, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fusion"))
        .arg("run")
        .arg(program)
        .args(options)
        .env("FUSION_CACHE", "0")
        .output()
        .unwrap();
    assert!(output.status.success(), "{} with {options:?}: {output:?}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

/// True for what may stand in a number.
fn numeric(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e')
}

/// The same text, with numbers that agree to 1e-4 of themselves or 1e-5.
fn same(a: &str, b: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !numeric(c)).filter(|w| !w.is_empty());
        split.map(str::to_owned).collect()
    };
    let rest = |text: &str| text.chars().filter(|c| !numeric(*c)).collect::<String>();
    let close = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-5 + 1e-4 * b.abs(),
        _ => a == b,
    };
    let (x, y) = (words(a), words(b));
    rest(a) == rest(b) && x.len() == y.len() && x.iter().zip(&y).all(|(a, b)| close(a, b))
}

fn agree(program: &Path, expected: &str) {
    for executor in EXECUTORS {
        let found = run(program, executor);
        assert!(
            same(found.trim(), expected.trim()),
            "{} by {executor}:\n{found}{expected}",
            program.display()
        );
    }
}

#[test]
fn examples_give_the_same_values_everywhere() {
    let mut programs: Vec<PathBuf> =
        fs::read_dir(repository().join("examples/relay")).unwrap().map(|e| e.unwrap().path()).collect();
    programs.retain(|path| path.extension().is_some_and(|e| e == "relay"));
    programs.sort();
    assert!(programs.len() >= 10, "{programs:?}");
    for program in programs {
        agree(&program, &run(&program, EXECUTORS[0]));
    }
}

#[test]
fn running_what_is_known_first_changes_no_value() {
    for example in ["lstm", "gru", "char_rnn", "map_fold", "newton", "growing_context"] {
        let program = repository().join(format!("examples/relay/{example}.relay"));
        let expected = run(&program, EXECUTORS[0]);
        for executor in EXECUTORS {
            let found = run_with(&program, &["--executor", executor, "--partial-eval"]);
            assert!(same(&found, &expected), "{example} by {executor}:\n{found}{expected}");
        }
    }
}

/// A recursion over a list of known length is straight code when it is unfolded, which needs no functions.
#[test]
fn a_net_of_known_length_becomes_a_graph() {
    let program = repository().join("examples/relay/gru.relay");
    let graph = run_with(&program, &["--executor", "graph", "--partial-eval"]);
    assert!(same(&graph, &run(&program, EXECUTORS[0])), "{graph}");
}

/// The programs of a page, each with the value behind it.
fn programs_of(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("```relay\n") {
        let (program, after) = after.split_once("```").expect("a program ends");
        let (_, after) = after.split_once("```text\n").expect("the value stands behind its program");
        let (value, after) = after.split_once("```").expect("a value ends");
        found.push((program.to_owned(), value.to_owned()));
        rest = after;
    }
    found
}

#[test]
fn the_page_of_the_language_is_true() {
    let page = fs::read_to_string(repository().join("docs/tutorials/relay.md")).unwrap();
    let programs = programs_of(&page);
    assert!(programs.len() >= 8);
    let directory = tempfile::tempdir().unwrap();
    for (index, (program, value)) in programs.iter().enumerate() {
        let path = directory.path().join(format!("program{index}.relay"));
        fs::write(&path, program).unwrap();
        agree(&path, value);
    }
}

#[test]
fn bytecode_files_run_as_their_programs() {
    let directory = tempfile::tempdir().unwrap();
    let program = repository().join("examples/relay/even_odd.relay");
    let file = directory.path().join("even_odd.fbc");
    let compiled = Command::new(env!("CARGO_BIN_EXE_fusion"))
        .arg("compile")
        .arg(&program)
        .args(["--emit", "bytecode", "-o"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    assert_eq!(run(&file, "vm"), run(&program, "interp"));

    let mut damaged = fs::read(&file).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&file, damaged).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fusion")).arg("run").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged"), "{output:?}");
}

/// A program in a file of its own, by all executors.
fn agree_on(program: &str, expected: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.relay");
    fs::write(&path, program).unwrap();
    agree(&path, expected);
}

#[test]
fn names_of_a_program_hide_those_of_the_prelude() {
    let program = "import \"prelude\"\n\
        def @map(%x: int32) -> int32 { %x + 1 }\n\
        type List { Empty, More(int32, List) }\n\
        def @main() { (@map(3), @sum(@range(4)), More(1, Empty), @length(@tl(@range(3)))) }\n";
    agree_on(program, "(tensor<i32> 4, tensor<i32> 6, More(tensor<i32> 1, Empty), tensor<i32> 2)");
}

#[test]
fn numbers_by_themselves_are_those_of_the_reference() {
    let program = "def @f(%i: int8, %x: float32, %acc: int64) -> (int8, float32, int64, bool) {\n\
          if (%i == 100i8) { (%i * 3i8, %x / 0f, %acc / -2i64, %x != %x) }\n\
          else { @f(%i + 1i8, %x * 1.5f - 0.25f, %acc * 3i64 + cast(%i, dtype=\"int64\")) }\n\
        }\n\
        def @main() { @f(-100i8, -1f, 7i64) }\n";
    agree_on(
        program,
        "(tensor<i8> 44, tensor<f32> -inf, tensor<i64> -1291111220400373877, tensor<i1> false)",
    );
}

/// All element types as the text form names them.
const ELEMENT_TYPES: [&str; 13] = [
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32",
    "uint16", "uint8", "bool",
];

/// Numbers at which casts differ: beyond the integers, between two of them, no number.
const CASTED: [&str; 6] = ["-2.75f", "300.5f", "-40000f", "5e9f", "-3e38f", "(0f / 0f)"];

#[test]
fn casts_of_numbers_are_those_of_the_reference() {
    // A step of the recursion casts a number to each type, and each of these to each type.
    let all = |of: &str| ELEMENT_TYPES.map(|ty| format!("cast({of}, dtype=\"{ty}\")")).join(", ");
    let lets: String =
        ELEMENT_TYPES.iter().map(|ty| format!("let %{ty} = cast(%x, dtype=\"{ty}\");\n")).collect();
    let pairs = ELEMENT_TYPES.map(|ty| format!("({})", all(&format!("%{ty}")))).join(",\n");
    let calls = CASTED.map(|number| format!("@f(%n, {number} * %one)")).join(", ");
    let program = format!(
        "def @f(%n: int32, %x: float32) {{\n\
           if (%n == 0) {{ {lets}({pairs}) }} else {{ @f(%n - 1, %x) }}\n\
         }}\n\
         def @main(%n: int32, %one: float32) {{ ({calls}) }}\n"
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("casts.relay");
    fs::write(&path, program).unwrap();
    let inputs = ["--input", "n=tensor<i32> 3", "--input", "one=tensor<f32> 1.0"];
    let given = |executor| run_with(&path, &[&["--executor", executor][..], &inputs].concat());
    let expected = given(EXECUTORS[0]);
    assert!(expected.contains("tensor<i8> -128") && expected.contains("NaN"), "{expected}");
    for executor in &EXECUTORS[1..] {
        // As text: nothing is rounded in another way.
        assert_eq!(given(executor), expected, "by {executor}");
    }
}

/// What a program that fails says.
fn failure(program: &str, executor: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.relay");
    fs::write(&path, program).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_fusion"))
        .current_dir(directory.path())
        .args(["run", "program.relay", "--executor", executor])
        .env("FUSION_CACHE", "0")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    String::from_utf8(run.stderr).unwrap()
}

#[test]
fn errors_say_the_place_as_file_line_and_column() {
    let program = "def @f(%n: int32) -> int32 {\n  10 / %n\n}\ndef @main() {\n  @f(@f(11))\n}\n";
    for executor in EXECUTORS {
        let error = failure(program, executor);
        assert!(error.starts_with("error: program.relay:2:6: "), "{executor}: {error}");
        assert!(error.contains("integer division by zero"), "{executor}: {error}");
    }
}

#[test]
fn values_come_in_from_the_command_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.relay");
    let program = "import \"prelude\"\n\
        def @main(%xs: List[float32], %p: (int64, Tensor[(2), float32])) {\n\
          (@foldl(fn (%a: float32, %x: float32) { %a + %x }, 0f, %xs), %p.1 * 2f, %p.0)\n\
        }\n";
    fs::write(&path, program).unwrap();
    let with = |executor: &str, xs: &str| {
        Command::new(env!("CARGO_BIN_EXE_fusion"))
            .arg("run")
            .arg(&path)
            .args(["--executor", executor, "--input", xs, "--input", "p=(7i64, tensor<2xf32> [1.0, 2.5])"])
            .env("FUSION_CACHE", "0")
            .output()
            .unwrap()
    };
    for executor in EXECUTORS {
        let output = with(executor, "xs=Cons(1f, Cons(2.5, Nil()))");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.trim(), "(tensor<f32> 3.5, tensor<2xf32> [2.0, 5.0], tensor<i64> 7)", "{output:?}");
        let output = with(executor, "xs=Cons(1f, Empty)");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("Empty"), "{output:?}");
        let output = with(executor, "xs=Cons((1f, 2f), Nil)");
        assert_eq!(output.status.code(), Some(1), "{executor}: {output:?}");
    }
    let output = with("vm", "xs=Cons(1f, ");
    assert!(String::from_utf8_lossy(&output.stderr).contains("column 13: a value is expected"), "{output:?}");
}

/// A program of two inputs, and a file with a value for the second.
fn scaled(directory: &Path) -> PathBuf {
    let path = directory.join("program.relay");
    let program = "def @main(%x: Tensor[(n, 2), float32], %w: Tensor[(2), float32]) { %x * exp(%w) }\n";
    fs::write(&path, program).unwrap();
    let w = Tensor::from_slice(&[2], &[0f32, 1.0]).unwrap();
    npz::write(&directory.join("w.npz"), [("w", &w)]).unwrap();
    path
}

#[test]
fn inputs_become_constants() {
    let directory = tempfile::tempdir().unwrap();
    let program = scaled(directory.path());
    let x = "x=tensor<1x2xf32> [[2.0, 0.0]]";
    for executor in EXECUTORS {
        let bound = format!("w={}", directory.path().join("w.npz").display());
        let found = run_with(&program, &["--executor", executor, "--bind", &bound, "--input", x]);
        assert_eq!(found.trim(), "tensor<1x2xf32> [[2.0, 0.0]]", "{executor}");
        let bound = bound.replacen("w=", "v=", 1);
        let output = Command::new(env!("CARGO_BIN_EXE_fusion"))
            .arg("run")
            .arg(&program)
            .args(["--bind", &bound, "--input", x])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("no input \"v\" to make a constant; its inputs are x, w"), "{said}");
    }
}

#[test]
fn programs_of_open_extents_are_timed() {
    let directory = tempfile::tempdir().unwrap();
    let program = scaled(directory.path());
    let library = directory.path().join("program.so");
    let fusion = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_fusion")).args(arguments).env("FUSION_CACHE", "0").output().unwrap()
    };
    let [program, library] = [&program, &library].map(|path| path.to_str().unwrap());
    assert!(fusion(&["compile", program, "-o", library]).status.success());
    let inputs = ["--input", "x=tensor<1x2xf32> [[2.0, 0.0]]", "--input", "w=tensor<2xf32> [0.0, 1.0]"];
    for model in [program, library] {
        let output = fusion(&[&["bench", model, "--runs", "2"][..], &inputs].concat());
        assert!(String::from_utf8_lossy(&output.stdout).contains("median"), "{output:?}");
        let without = fusion(&["bench", model, "--runs", "2"]);
        let said = String::from_utf8_lossy(&without.stderr).into_owned();
        assert!(said.contains("the program's input \"x\" was not given"), "{said}");
    }
}

#[test]
fn programs_as_text_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.relay");
    let text = directory.path().join("program.fbct");
    fs::write(
        &path,
        "def @f(%i: int32) { if (%i > 7) { (%i, 0.5f) } else { @f(%i * 2) } }\ndef @main() { @f(3) }\n",
    )
    .unwrap();
    let fusion = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_fusion")).args(arguments).env("FUSION_CACHE", "0").output().unwrap()
    };
    let paths = [path.to_str().unwrap(), text.to_str().unwrap()];
    let made = fusion(&["compile", paths[0], "--emit", "bytecode-text", "-o", paths[1]]);
    assert!(made.status.success(), "{made:?}");
    assert_eq!(run(&text, "vm").trim(), "(tensor<i32> 12, tensor<f32> 0.5)");
    let damaged = fs::read_to_string(&text).unwrap().replacen("tail-call @f", "tail-call @g", 1);
    fs::write(&text, damaged).unwrap();
    let failed = fusion(&["run", paths[1]]);
    let error = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(error.contains("program.fbct:") && error.contains("there is no function \"g\""), "{error}");
}

/// A recursion of `steps` calls.
fn steps(directory: &Path, steps: u32) -> PathBuf {
    let path = directory.join("steps.relay");
    let ty = "Tensor[(4), float32]";
    let source = format!(
        "def @run(%i: int32, %x: {ty}) -> {ty} {{ if (%i == 0) {{ %x }} else {{ @run(%i - 1, tanh(%x)) }} }}
def @main(%x: {ty}) -> {ty} {{ @run({steps}, %x) }}"
    );
    fs::write(&path, source).unwrap();
    path
}

#[test]
fn a_program_that_takes_nothing_is_not_run_when_compiling() {
    let directory = tempfile::tempdir().unwrap();
    let (program, library) = (directory.path().join("fall.relay"), directory.path().join("fall.so"));
    let text = "#[version = \"0.0.5\"]
def @fall(%n: int32) -> int32 { if (less_equal(%n, 0)) { %n } else { @fall(subtract(%n, 1)) } }
def @main() -> int32 { @fall(20) }
";
    std::fs::write(&program, text).unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_fusion"))
        .args(["compile", program.to_str().unwrap(), "-o", library.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    assert!(fusion_runtime::NativeProgram::load(&library).unwrap().is_some());
}

#[test]
fn libraries_of_programs_of_bounded_length_are_graphs() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("steps.so");
    let is_graph = |count: u32, options: &[&str]| {
        let program = steps(directory.path(), count);
        let made = Command::new(env!("CARGO_BIN_EXE_fusion"))
            .arg("compile")
            .arg(&program)
            .arg("-o")
            .arg(&library)
            .args(options)
            .env("FUSION_CACHE", "0")
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let input = "x=tensor<4xf32> [1.0, 2.0, 3.0, 4.0]";
        let value = run_with(&library, &["--input", input]);
        let expected = run_with(&program, &["--executor", "vm", "--input", input]);
        let numbers = |text: &str| -> Vec<f64> {
            let (_, list) = text.split_once('[').unwrap();
            list.trim().trim_end_matches(']').split(", ").map(|n| n.parse().unwrap()).collect()
        };
        let near = numbers(&value).iter().zip(numbers(&expected)).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near, "{value}{expected}");
        fusion_runtime::NativeProgram::load(&library).unwrap().is_none()
    };
    assert!(is_graph(8, &[]));
    assert!(!is_graph(5000, &[]));
    assert!(!is_graph(8, &["--partial-eval=never"]));
    assert!(!is_graph(8, &["-O1"]));
    assert!(is_graph(600, &["--partial-eval"]));
}
