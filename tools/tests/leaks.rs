//! The example programs, again and again: nothing stays alive, and memory does not grow.

use crate::common::alone;
use fusion::driver::{CompileOptions, Target};
use fusion::programs::{self, Inputs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const RUNS: usize = 1000;
/// Runs of a program that takes long end after this time, but not before a hundred.
const BUDGET: Duration = Duration::from_secs(2);
const FEWEST: usize = 100;

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/relay");
    let mut programs: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    programs.retain(|path| path.extension().is_some_and(|e| e == "relay"));
    programs.sort();
    assert!(programs.len() >= 10);
    programs
}

/// Runs a program as often as there is time; memory must not grow after the first runs.
fn repeat(example: &Path, mut run: impl FnMut()) {
    (0..FEWEST / 2).for_each(|_| run());
    let (before, start) = (resident(), Instant::now());
    let mut runs = FEWEST / 2;
    while runs < RUNS && (runs < FEWEST || start.elapsed() < BUDGET) {
        run();
        runs += 1;
    }
    let grown = resident().saturating_sub(before);
    println!("{}: {runs} runs, {grown} bytes more", example.display());
    assert!(grown < 1 << 20, "{}: {grown} bytes more after {runs} runs", example.display());
}

#[test]
fn examples_leave_nothing_behind_in_the_virtual_machine() {
    alone("leaks::examples_leave_nothing_behind_in_the_virtual_machine", || {
        for example in examples() {
            let file =
                programs::bytecode(&example, &CompileOptions::for_target(Target::uncalibrated())).unwrap();
            let mut machine = programs::machine(file, None).unwrap();
            repeat(&example, || {
                machine.run(&[]).unwrap();
                assert_eq!((machine.live(), machine.leaked()), (0, 0), "{}", example.display());
            });
        }
    });
}

#[test]
fn examples_leave_nothing_behind_in_native_code() {
    alone("leaks::examples_leave_nothing_behind_in_native_code", || {
        for example in examples() {
            let compiled =
                programs::native(&example, &CompileOptions::for_target(Target::uncalibrated())).unwrap();
            let program = programs::linked(&compiled).unwrap().unwrap();
            repeat(&example, || {
                programs::run_native(&program, None, Inputs::new()).unwrap();
                assert_eq!(program.live_values(), 0, "{}", example.display());
            });
        }
    });
}
