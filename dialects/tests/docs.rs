//! `docs/reference/dialects` is what ODS says. `make docs` writes it.

use std::path::Path;
use std::process::Command;

const DIALECTS: &[(&str, &str)] =
    &[("relay", "td/relay/Relay.td"), ("te", "td/te/Te.td"), ("loop", "td/loop/Loop.td")];

/// The page of a dialect.
fn page(dialect: &str, td: &str) -> String {
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").expect(".cargo/config.toml gives the prefix of LLVM");
    let prefix = Path::new(&prefix);
    let folder = Path::new(td).parent().expect("a .td stands in a folder");
    let run = Command::new(prefix.join("bin/mlir-tblgen"))
        .args(["-gen-dialect-doc", &format!("-dialect={dialect}"), td, "-I"])
        .arg(prefix.join("include"))
        .arg("-I")
        .arg(folder)
        .args(["-I", env!("OUT_DIR")])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("mlir-tblgen is a part of LLVM's tools");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).expect("a page is text");
    let lines = text.lines().filter(|l| !l.contains("[TOC]")).map(str::trim_end);
    let mut page = String::new();
    let mut empty = false;
    for line in lines {
        if !(line.is_empty() && empty) {
            page.push_str(line);
            page.push('\n');
        }
        empty = line.is_empty();
    }
    page
}

#[test]
fn pages_of_dialects_are_true() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/dialects");
    for (dialect, td) in DIALECTS {
        let (path, wanted) = (docs.join(format!("{dialect}.md")), page(dialect, td));
        if std::env::var_os("FUSION_WRITE_DOCS").is_some() {
            std::fs::create_dir_all(&docs).expect("docs can be written");
            std::fs::write(&path, &wanted).expect("docs can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "docs/reference/dialects/{dialect}.md is not what {td} says; run `make docs`"
        );
    }
}
