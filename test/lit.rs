//! Runs the lit suite with litcheck, which has lit and FileCheck as libraries.
//!
//! Tests call `FileCheck` and `not` by name: links of those names to this program stand in a folder of the
//! path, and it is what it is called. Arguments select tests (`cargo test -p fusion-test -- fold`).
//! LLVM's own lit runs the same tests by `lit.cfg.py`.

use clap::Parser;
use litcheck_core::Input;
use litcheck_core::diagnostics::{DiagResult, IntoDiagnostic};
use litcheck_lit::{
    Config, DefaultTestSuiteRegistry, Test, TestFormat, TestResult, TestSuiteRegistry, TestSuiteRegistryExt,
};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Folders without tests of this suite: a project of its own, and models.
const OTHERS: [&str; 2] = ["fuzz", "models"];

#[derive(Parser)]
struct FileCheck {
    check_file: Input,
    #[arg(long, default_value = "-")]
    input_file: Input,
    #[command(flatten)]
    options: litcheck_filecheck::Options,
}

fn main() -> DiagResult<ExitCode> {
    let called = std::env::args().next().unwrap_or_default();
    match Path::new(&called).file_name().and_then(|name| name.to_str()) {
        Some("filecheck" | "FileCheck") => filecheck(FileCheck::parse()),
        Some("not") => not(),
        _ => suite(),
    }
}

fn filecheck(called: FileCheck) -> DiagResult<ExitCode> {
    let mut options = called.options;
    for prefixes in [&mut options.check_prefixes, &mut options.comment_prefixes] {
        prefixes.sort();
        prefixes.dedup();
    }
    options.validate()?;
    let config = litcheck_filecheck::Config { options, ..Default::default() };
    let checks = called.check_file.into_source(true, config.source_manager()).into_diagnostic()?;
    let input = called.input_file.into_source(true, config.source_manager()).into_diagnostic()?;
    litcheck_filecheck::Test::new(checks, &config).verify(input).map(|_| ExitCode::SUCCESS)
}

/// Succeeds when the command fails without crashing.
fn not() -> DiagResult<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else { return Ok(ExitCode::from(126)) };
    let status = Command::new(program).args(arguments).status().into_diagnostic()?;
    Ok(if matches!(status.code(), Some(code) if code != 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn suite() -> DiagResult<ExitCode> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::current_exe().into_diagnostic()?;
    // The program is target/<profile>/deps/lit-...; the tools are two folders up.
    let built = program.ancestors().nth(2).unwrap_or(here).to_path_buf();
    if let Some(failed) = build_tools(&built)? {
        return Ok(failed);
    }
    let mut config = Config::new(folders(here)?);
    config.options.search_paths = vec![links(&program, &built)?, built];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();

    let mut registry = DefaultTestSuiteRegistry::default();
    registry.load(&config)?;
    let selected = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.contains(w));
    let tests: Vec<Test> = registry.tests().filter(|t| selected(t.name())).map(|t| by_name(&t)).collect();
    let (next, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failed = match test.config.format.execute(test, &config) {
                        Ok(result) if result.is_failure() => describe(&result),
                        Ok(_) => continue,
                        Err(report) => format!("{report:?}\n"),
                    };
                    failures.fetch_add(1, Ordering::Relaxed);
                    println!("FAIL: {}\n{failed}", test.name());
                }
            });
        }
    });
    let failures = failures.into_inner();
    println!("{} lit tests, {failures} failed", tests.len());
    Ok(if failures == 0 && !tests.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All folders of tests: those beside this file, but for what is no lit test.
fn folders(here: &Path) -> DiagResult<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(here).into_diagnostic()? {
        let path = entry.into_diagnostic()?.path();
        if path.is_dir() && !OTHERS.iter().any(|other| path.ends_with(other)) {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}

/// The test with `FileCheck` and `not` looked up in the path. litcheck's substitutions for them are meant to
/// keep their names, but end `$before` too late to do so.
fn by_name(test: &Test) -> Test {
    let mut config = (*test.config).clone();
    for (pattern, replacement) in test.config.substitutions.iter() {
        let replacement = replacement.replace("$before", "${before}").replace("$after", "${after}");
        config.substitutions.insert(pattern.clone(), replacement);
    }
    Test::new(test.path.clone(), test.suite.clone(), Arc::new(config))
}

fn describe(result: &TestResult) -> String {
    format!("{result:#}")
}

/// Builds the tools, which are no dependency cargo knows of; the status when that fails. What is built, and with which features, is what
/// `make build` says: for another choice cargo would compile everything once more.
fn build_tools(built: &Path) -> DiagResult<Option<ExitCode>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args([
        "build",
        "--quiet",
        "--workspace",
        "--features",
        "fusion/ndarray",
        "--bins",
        "--example",
        "example-opt",
    ]);
    if built.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().into_diagnostic()?;
    Ok((!status.success()).then_some(ExitCode::FAILURE))
}

/// A folder in which `FileCheck` and `not` are this program.
fn links(program: &Path, built: &Path) -> DiagResult<PathBuf> {
    let folder = built.join("lit-tools");
    std::fs::create_dir_all(&folder).into_diagnostic()?;
    for name in ["filecheck", "FileCheck", "not"] {
        let link = folder.join(name);
        if std::fs::read_link(&link).is_ok_and(|to| to == program) {
            continue;
        }
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(program, &link).into_diagnostic()?;
    }
    Ok(folder)
}
