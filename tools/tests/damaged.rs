//! Damaged programs, which are mostly ill-typed: each is refused with a sentence, or is a program; no pass panics.
//!
//!     FUSION_SEED=100000 FUSION_FUZZ_CASES=50000 cargo test -p fusion-tools --test tools damaged

use fusion::driver::{CompileOptions, Target};
use fusion::programs;
use fusion_operators::random::{Random, seeds};
use std::path::{Path, PathBuf};

/// The examples, and the programs of the page of the language.
fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(root.join("examples/relay")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let examples = paths.iter().filter(|p| p.extension().is_some_and(|e| e == "relay"));
    let mut found: Vec<String> = examples.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let page = std::fs::read_to_string(root.join("docs/tutorials/relay.md")).unwrap();
    found.extend(
        page.split("```relay\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())),
    );
    assert!(found.len() >= 18);
    found
}

/// Words, numbers, and signs one by one; blanks stay with what is before them.
fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for c in text.chars() {
        let joins = |last: &String| {
            let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '@');
            c.is_whitespace()
                || last.chars().last().is_some_and(|l| inside(l) && inside(c) && !matches!(c, '%' | '@'))
        };
        match found.last_mut().filter(|last| joins(last)) {
            Some(last) => last.push(c),
            None => found.push(c.to_string()),
        }
    }
    found
}

/// A program with some words exchanged, taken away or put in.
fn damaged(programs: &[Vec<String>], seed: u64) -> String {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut below = |bound: usize| (random.next_u64() % bound.max(1) as u64) as usize;
    let mut words = programs[below(programs.len())].clone();
    for _ in 0..1 + below(3) {
        let at = below(words.len());
        let other = words[below(words.len())].clone();
        match below(5) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, other),
            2 => {
                let with = &programs[below(programs.len())];
                words[at] = with[below(with.len())].clone();
            }
            _ => words[at] = other,
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

#[test]
fn damaged_programs_are_refused_with_a_sentence() {
    fusion::register_passes();
    let programs_: Vec<Vec<String>> = programs().iter().map(|text| words(text)).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged.relay");
    let (mut accepted, mut refused) = (0, 0);
    for seed in seeds(600) {
        let text = damaged(&programs_, seed);
        std::fs::write(&path, &text).unwrap();
        match programs::is_program(&path, &CompileOptions::for_target(Target::uncalibrated())) {
            Ok(_) => accepted += 1,
            Err(error) => {
                let error = error.to_string();
                let broken =
                    ["internal error", "panicked", "LLVM ERROR"].iter().any(|sign| error.contains(sign));
                assert!(!broken && error.len() > 10, "seed {seed}: {error}\n{text}");
                refused += 1;
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(refused >= accepted / 20);
}
