//! `fusion dev new-primitive`: an operation of te, the file that edits the tree, and a test.

use super::names::{file_name, type_name};
use super::{DevError, Edits};
use fusion_dialects::te::Op as Te;
use std::path::PathBuf;

const FOLDER: &str = "transforms/schedule/src/schedule/primitives";

/// Writes the skeleton of a primitive of a stage; gives the files.
pub fn write(mut edits: Edits, name: &str) -> Result<Vec<PathBuf>, DevError> {
    let name = file_name(name, "a primitive")?;
    if Te::ALL.iter().any(|op| op.name() == format!("te.{name}")) {
        let wanted = "one that no operation of te has: this one there is";
        return Err(DevError::Name { name, what: "a primitive", wanted });
    }
    let class = type_name(&name);
    edits.append("dialects/td/te/Schedule.td", &operation(&name, &class))?;
    edits.add_line(
        "dialects/src/te/mod.rs",
        "        Tensorize = ",
        &format!("        {class} = \"te.{name}\","),
        false,
    )?;
    edits.create(&format!("{FOLDER}/{name}.rs"), file(&name))?;
    edits.add_line(&format!("{FOLDER}/mod.rs"), "pub mod ", &format!("pub mod {name};"), true)?;
    let row = format!("    (Te::{class}, {name}::apply),");
    edits.add_line(&format!("{FOLDER}/mod.rs"), "    (Te::", &row, false)?;
    edits.create(&format!("test/Schedule/{name}.mlir"), test(&name))?;
    edits.write()
}

fn operation(name: &str, class: &str) -> String {
    format!(
        r#"def Te_{class}Op : Te_Primitive<"{name}"> {{
  let summary = "write me: what it does to a stage, in one line";
  let arguments = (ins Te_StageType:$stage);
  let assemblyFormat = "$stage attr-dict";
}}
"#
    )
}

fn file(name: &str) -> String {
    format!(
        r#"//! `{name}`: write me, what becomes of the loops.
//!
//!     for i in 0..8        =>      write me
//!       body(i)
//!
//! write me: where it comes from, and when it pays.

use super::super::{{Handles, Schedule, StageId}};
use fusion_dialects::{{Op, OpExt}};

/// write me: what it does to a stage.
pub fn {name}(tree: &mut Schedule, stage: StageId) -> Result<(), String> {{
    Err(format!("is not written yet: write me, for stage \"{{}}\"", tree.stages[stage].name))
}}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {{
    let stage = handles.stage(op.operand_values()[0])?;
    {name}(tree, stage)
}}
"#
    )
}

fn test(name: &str) -> String {
    format!(
        r#"// RUN: fusion-opt %s --te-lower | FileCheck %s

// CHECK-LABEL: func.func private @k(
// CHECK:         write me: the loops it makes
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = te.compute "y" axes [8] reduce [] init [] {{
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<8xf32> -> f32
    te.yield %a : f32
  }} combine {{}} : tensor<8xf32>
  te.return %0 : tensor<8xf32>
}}
te.schedule for @k {{
  %s = te.stage "y"
  te.{name} %s
}}
"#
    )
}
