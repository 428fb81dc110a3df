//! TVM's operators against values that NumPy and PyTorch give.
//!
//! ```text
//!   let %x = stack((1f, 2f), axis=0);             a file begins with what its cases share
//!
//!   reverse(%x, axis=[0])                         a case: an expression,
//!       => 2xf32: 2 1                             and the type and the elements of its value
//! ```
//! All cases of a file are one program, whose value is a tuple. Constants that operators must know stand in its metadata section.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXECUTORS: &[&str] = &["interp", "vm"];

struct Case {
    text: String,
    ty: String,
    elements: Vec<f64>,
}

/// A file taken apart.
struct Cases {
    shared: String,
    cases: Vec<Case>,
    section: String,
}

fn read(name: &str) -> Cases {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/relay_operators").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let end = text.find("#[metadata]").unwrap_or(text.len());
    let (program, section) = text.split_at(end);
    let (shared, rest) = program.split_once("\n\n").expect("an empty line ends what cases share");
    let mut cases = Vec::new();
    let mut expression = String::new();
    for line in rest.lines().filter(|line| !line.trim().is_empty()) {
        match line.trim().strip_prefix("=> ") {
            Some(expected) => {
                let (ty, elements) = expected.split_once(": ").expect("a type and elements");
                let elements = elements.split(' ').map(number).collect();
                cases.push(Case { text: std::mem::take(&mut expression), ty: ty.to_owned(), elements });
            }
            None => expression.push_str(line),
        }
    }
    Cases { shared: shared.to_owned(), cases, section: section.to_owned() }
}

fn number(word: &str) -> f64 {
    match word {
        "true" => 1.0,
        "false" => 0.0,
        word => word.parse().unwrap_or_else(|_| panic!("{word} is no number")),
    }
}

/// The tensors of what a program prints.
fn tensors(printed: &str) -> Vec<(String, Vec<f64>)> {
    let parts = printed.split("tensor<").skip(1);
    let tensor = |part: &str| {
        let (ty, elements) = part.split_once('>').expect("a type");
        let words = elements.split(|c: char| c.is_whitespace() || "[](),".contains(c));
        (ty.to_owned(), words.filter(|word| !word.is_empty()).map(number).collect())
    };
    parts.map(tensor).collect()
}

fn run(program: &Path, executor: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fusion"))
        .arg("run")
        .arg(program)
        .args(["--executor", executor, "--input", "zero=0f"])
        .env("FUSION_CACHE", "0")
        .output()
        .expect("fusion runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// What cases share, plus a zero that is given when the program runs: what is computed is computed then.
fn unknown(shared: &str) -> String {
    let line = |line: &str| match line.strip_prefix("let %").and_then(|rest| rest.split_once(" = ")) {
        Some((name, _)) => format!("{line}\nlet %{name} = add(%{name}, cast_like(%zero, %{name}));\n"),
        None => format!("{line}\n"),
    };
    shared.lines().map(line).collect()
}

/// Runs the cases of a file, each against its value, in the interpreter and compiled.
fn check(name: &str) {
    EXECUTORS.iter().for_each(|executor| check_by(name, executor));
}

fn check_by(name: &str, executor: &str) {
    let Cases { shared, cases, section } = read(name);
    assert!(!cases.is_empty());
    let list: String = cases.iter().map(|case| format!("{},\n", case.text)).collect();
    let program: PathBuf =
        std::env::temp_dir().join(format!("fusion-{}-{executor}-{name}.relay", std::process::id()));
    let shared = unknown(&shared);
    fs::write(&program, format!("def @main(%zero: float32) {{\n{shared}\n({list})\n}}\n{section}"))
        .expect("written");
    let printed = run(&program, executor);
    fs::remove_file(&program).expect("removed");
    let found = tensors(&printed);
    assert_eq!(found.len(), cases.len(), "{printed}");
    for ((ty, elements), case) in found.iter().zip(&cases) {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-5 + 1e-4 * b.abs();
        let same = elements.len() == case.elements.len() && elements.iter().zip(&case.elements).all(close);
        assert!(
            *ty == case.ty && same,
            "{} by {executor}: found {ty} {elements:?}, expected {} {:?}",
            case.text,
            case.ty,
            case.elements
        );
    }
}

#[test]
fn images_are_sampled_as_references_sample_them() {
    check("images.txt");
}

#[test]
fn boxes_that_count_come_first() {
    check("detection.txt");
}

#[test]
fn elements_go_where_references_put_them() {
    check("rearranging.txt");
}

#[test]
fn sequences_give_what_references_give() {
    check("sequences.txt");
}

#[test]
fn shapes_may_be_constants_that_are_operands() {
    check("constants.txt");
}

#[test]
fn packed_layouts_change_no_value() {
    check("packed.txt");
}

#[test]
fn quantised_operators_round_as_their_references() {
    check("quantized.txt");
}

#[test]
fn gradients_and_correlations_are_those_of_their_sums() {
    check("gradients.txt");
}

#[test]
fn functions_of_elements_are_those_of_numpy() {
    check("elementwise.txt");
}

#[test]
fn channels_that_are_normalized_may_lie_at_any_axis() {
    check("normalization.txt");
}

#[test]
fn random_numbers_are_those_of_threefry() {
    check("random.txt");
}

#[test]
fn rows_and_groups_are_found() {
    check("found.txt");
}
