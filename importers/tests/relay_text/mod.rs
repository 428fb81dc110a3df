//! Relay text: what is written is what was read, whatever the program; and no text, however damaged, makes the importer
//! panic.

mod numbers;
mod programs;
mod shared;

use fusion_dialects::{OperationLike, load_context, module_op, source_of, with_diagnostics};
use fusion_importers::relay_text::{MOST_DEPTH, import, import_file, print};
use fusion_operators::random::{Random, seed, seeds};
use programs::Generator;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The IR of a text, which must verify, and the text that is written for it.
fn read(text: &str) -> Result<(String, String), String> {
    let context = load_context();
    let module = import(&context, "test.relay", text.to_owned(), None).map_err(|e| e.to_string())?;
    let op = module_op(&module);
    let (valid, errors) = with_diagnostics(&context, || op.verify());
    if !valid {
        return Err(format!("{}\n{}", errors.join("\n"), source_of(op, false)));
    }
    Ok((source_of(op, false), print(op).map_err(|e| e.to_string())?))
}

fn round_trip(text: &str) {
    let (ir, written) = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (again, rewritten) = read(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(ir, again, "of\n{text}\nwritten as\n{written}");
    assert_eq!(written, rewritten);
}

/// Why a text is refused.
fn refused(text: &str) -> String {
    match read(text) {
        Ok((ir, _)) => panic!("this was read as\n{ir}"),
        Err(message) => message,
    }
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/relay");
    let files =
        std::fs::read_dir(folder).expect("the examples are there").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "relay")).collect();
    files.sort();
    files
}

#[test]
fn examples_come_back() {
    let files = examples();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let context = load_context();
        let module = import_file(&context, &file).unwrap_or_else(|e| panic!("{e}"));
        let written = print(module_op(&module)).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let (again, _) = read(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(source_of(module_op(&module), false), again, "{}\n{written}", file.display());
    }
}

#[test]
fn random_programs_come_back() {
    for seed in seeds(200) {
        let program = Generator::new(seed).program();
        round_trip(&program);
    }
}

#[test]
fn the_whole_prelude_is_read() {
    let prelude = include_str!("../../src/relay_text/prelude.relay");
    round_trip(prelude);
}

#[test]
fn of_the_prelude_only_what_is_used_is_taken() {
    let (ir, _) =
        read("import \"prelude\"\ndef @main() -> int32 { @length(@range(3)) }").expect("it is read");
    assert!(ir.contains("func.func @length_and") && ir.contains("relay.data @List"), "{ir}");
    assert!(!ir.contains("@map") && !ir.contains("relay.data @Rose"), "{ir}");
}

#[test]
fn an_expression_is_main() {
    let (ir, _) = read("let %x = 1f; add(%x, %x)").expect("it is read");
    assert!(ir.contains("func.func @main() -> tensor<f32>"), "{ir}");
    let (ir, _) = read("fn (%x: float32) -> float32 { add(%x, %x) }").expect("it is read");
    assert!(ir.contains("func.func @main(%arg0: tensor<f32> {relay.name = \"x\"}) -> tensor<f32>"), "{ir}");
}

#[test]
fn numbers_come_back_to_the_last_bit() {
    let mut text = String::from("def @main() {\n  (");
    for number in [
        "0.1f",
        "-0f",
        "3.4028235e38f",
        "1e-45f",
        "0.1f64",
        "5e-324f64",
        "inff",
        "-inff",
        "-2147483648",
        "9223372036854775807i64",
        "65504f16",
        "-7i16",
    ] {
        write!(text, "{number}, ").expect("a string takes all");
    }
    text.push_str(")\n}");
    round_trip(&text);
}

#[test]
fn a_chain_of_any_length_is_read() {
    let mut text = String::from("def @main(%x: float32) -> float32 {\n  let %y = %x;\n");
    (0..100_000).for_each(|_| text.push_str("  let %y = add(%y, %x);\n"));
    text.push_str("  %y\n}\n");
    let context = load_context();
    import(&context, "chain.relay", text, None).unwrap_or_else(|e| panic!("{e}"));
    let sum = format!("def @main(%x: float32) -> float32 {{ %x{} }}", " + %x".repeat(20_000));
    import(&context, "sum.relay", sum, None).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn tuples_that_share_parts_stay_small() {
    let mut text = String::from("def @main(%x: float32) {\n  let %t = (%x, %x);\n");
    (0..60).for_each(|_| text.push_str("  let %t = (%t, %t);\n"));
    text.push_str("  let %f = fn (%a) { %a };\n  %f(%t)");
    (0..61).for_each(|_| text.push_str(".0"));
    text.push_str("\n}\n");
    // The type is too large to be written, so only the importer is asked.
    let context = load_context();
    import(&context, "shared.relay", text, None).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn nesting_is_bounded() {
    let nested =
        |depth: usize| format!("def @main() -> float32 {{ {}1f{} }}", "(".repeat(depth), ")".repeat(depth));
    assert!(read(&nested(MOST_DEPTH - 1)).is_ok());
    assert!(refused(&nested(MOST_DEPTH)).contains("nested more than"));
    let branches = |depth: usize| {
        let (open, close) = ("if (True) { ".repeat(depth), " } else { 0f }".repeat(depth));
        format!("def @main() -> float32 {{ {open}1f{close} }}")
    };
    assert!(read(&branches(MOST_DEPTH - 2)).is_ok());
    assert!(refused(&branches(MOST_DEPTH * 100)).contains("nested more than"));
    assert!(refused(&"/*".repeat(100_000)).contains("has no end"));
    assert!(refused(&"(".repeat(1_000_000)).contains("nested more than"));
}

#[test]
fn damaged_texts_are_refused_or_read() {
    let mut random = Random::new(seed(7));
    let mut below = |bound: usize| (random.next_u64() % bound.max(1) as u64) as usize;
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "%",
        "@",
        "\"",
        "let ",
        "match ",
        "=>",
        "->",
        "999999999999",
        ".0",
        "/*",
        "é",
        "fn ",
        "_",
    ];
    for file in examples() {
        let text = std::fs::read_to_string(&file).expect("an example is read");
        for _ in 0..40 {
            let mut damaged: Vec<char> = text.chars().collect();
            for _ in 0..=below(3) {
                let at = below(damaged.len());
                match below(3) {
                    0 => drop(damaged.drain(at..(at + 1 + below(12)).min(damaged.len()))),
                    1 => drop(damaged.splice(at..at, pieces[below(pieces.len())].chars())),
                    _ => {
                        let from = below(damaged.len());
                        let piece: Vec<char> =
                            damaged[from..(from + 1 + below(30)).min(damaged.len())].to_vec();
                        drop(damaged.splice(at..at, piece));
                    }
                }
            }
            let damaged: String = damaged.into_iter().collect();
            let context = load_context();
            let (read, _) = with_diagnostics(&context, || import(&context, "damaged.relay", damaged, None));
            if let Err(error) = read {
                let shown = error.to_string();
                assert!(
                    !error.message.is_empty()
                        && (error.line == 0 || shown.contains('^') || error.column > 160),
                    "{shown}"
                );
            }
        }
    }
}
