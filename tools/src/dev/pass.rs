//! `fusion dev new-pass`: a pass, its registration, and a test.

use super::names::{file_name, type_name};
use super::{DevError, Edits};
use std::path::PathBuf;

/// A dialect whose passes have a crate: the beginning of their names, the crate's folder, what it is called, and the folder of its tests.
const DIALECTS: &[(&str, &str, &str, &str)] = &[
    ("relay-", "transforms/relay", "relay", "test/Transforms/Relay"),
    ("te-", "transforms/schedule", "te", "test/Transforms/Te"),
    ("loop-", "transforms/loops", "loops", "test/Transforms/Loops"),
];

/// Writes the skeleton of a pass, such as `relay-count-calls`; gives the files.
pub fn write(mut edits: Edits, name: &str) -> Result<Vec<PathBuf>, DevError> {
    let found = DIALECTS.iter().find_map(|row| Some((row, name.strip_prefix(row.0)?)));
    let Some((&(prefix, folder, module, tests), verb)) = found else {
        let wanted =
            "relay-, te- or loop-, the dialect it is about, and what it does, such as relay-count-calls";
        return Err(DevError::Name { name: name.to_owned(), what: "a pass", wanted });
    };
    let file = file_name(&verb.replace('-', "_"), "a pass")?;
    let class = type_name(&format!("{}_{file}", prefix.trim_end_matches('-')));
    edits.create(&format!("{folder}/src/{file}.rs"), pass(name, &class))?;
    edits.add_line(&format!("{folder}/src/lib.rs"), "pub mod ", &format!("pub mod {file};"), true)?;
    let registered = format!("    fusion_dialects::register::<{module}::{file}::{class}>();");
    edits.add_line("transforms/src/lib.rs", "    fusion_dialects::register::", &registered, false)?;
    edits.create(&format!("{tests}/{file}.mlir"), test(name))?;
    edits.write()
}

fn pass(name: &str, class: &str) -> String {
    format!(
        r#"//! `{name}`: write me, with a picture of before and after.
//!
//!     before    =>    after

use fusion_dialects::{{Op, Pass, PassError, RunContext, nested_ops}};

/// The pass.
pub struct {class};

impl Pass for {class} {{
    const NAME: &'static str = "{name}";
    const DESCRIPTION: &'static str = "write me: what it does, in one line";
    const ANCHOR: Option<&'static str> = Some("func.func");

    fn run<'c>(function: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {{
        for _op in nested_ops(function) {{
            // write me
        }}
        Ok(())
    }}
}}
"#
    )
}

fn test(name: &str) -> String {
    format!(
        r#"// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func({name}))' | FileCheck %s

// CHECK-LABEL: func.func @example
// CHECK:         write me: what the pass makes of it
func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = relay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"#
    )
}
