//! `fusion dev new-operator`: a row, a definition, a name in ONNX, and a test.

use super::names::file_name;
use super::{DevError, Edits};
use fusion_operators::ops;
use std::path::PathBuf;

const DEFINITIONS: &str = "conversion/relay_to_te/src/definitions";
const IMPORTERS: &str = "importers/src/onnx/ops/arithmetic";

/// Writes the skeleton of an operator; gives the files.
pub fn write(mut edits: Edits, name: &str, onnx: Option<&str>) -> Result<Vec<PathBuf>, DevError> {
    let name = file_name(name, "an operator")?;
    if ops::named(&name).is_some() {
        let wanted = "one that no operator has: this one there is";
        return Err(DevError::Name { name, what: "an operator", wanted });
    }
    let constant = name.to_uppercase();
    edits.create(&format!("operators/src/ops/{name}.rs"), row(&name, &constant))?;
    edits.add_line("operators/src/ops/mod.rs", "pub mod ", &format!("pub mod {name};"), true)?;
    edits.add_line(
        "operators/src/ops/mod.rs",
        "    (\"",
        &format!("    (\"{name}\", {name}::ALL),"),
        false,
    )?;
    edits.create(&format!("{DEFINITIONS}/{name}.rs"), definition(&name, &constant))?;
    edits.add_line(&format!("{DEFINITIONS}/mod.rs"), "mod ", &format!("mod {name};"), true)?;
    edits.add_line(
        &format!("{DEFINITIONS}/mod.rs"),
        "    winograd::TABLE",
        &format!("    {name}::TABLE,"),
        false,
    )?;
    if let Some(onnx) = onnx {
        let is_name = onnx.starts_with(|c: char| c.is_ascii_uppercase())
            && onnx.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_name {
            let wanted = "letters and digits that begin with a capital, such as LayerNormalization";
            return Err(DevError::Name { name: onnx.to_owned(), what: "an operator of ONNX", wanted });
        }
        edits.create(&format!("{IMPORTERS}/{name}.rs"), conversion(&name, &constant, onnx))?;
        edits.add_line(&format!("{IMPORTERS}/mod.rs"), "pub mod ", &format!("pub mod {name};"), true)?;
        edits.add_line(
            &format!("{IMPORTERS}/mod.rs"),
            "    elementwise::ROWS",
            &format!("    {name}::ROWS,"),
            false,
        )?;
    }
    edits.create(&format!("test/Conversion/RelayToTe/{name}.mlir"), test(&name))?;
    edits.write()
}

fn row(name: &str, constant: &str) -> String {
    format!(
        r#"//! write me: what `{name}` computes, its equation, and where it comes from.

use crate::form::{{form, operand}};
use crate::operator::cost::one_each;
use crate::reference::{{EvalError, Evaluated}};
use crate::relation::same_as_first;
use crate::{{Call, FusionKind, Operator, Tensor, TensorType, operators}};

operators! {{
    /// write me: a summary of {name} in one line
    ///
    /// - C1: write me: what operands and attributes must be.
    {constant} = Operator::new("{name}", FusionKind::Opaque, same_as_first, one_each, reference)
        .of(form(&[operand("data")]));
}}

fn reference(_: &Call, _: &[TensorType], _: &[Tensor]) -> Evaluated {{
    Err(EvalError::Value("write me: what {name} computes, in operators/src/ops/{name}.rs".into()))
}}
"#
    )
}

fn definition(name: &str, constant: &str) -> String {
    format!(
        r#"//! `{name}`: write me, as tensor expressions.

use super::{{Built, Table, TeCall}};
use fusion_dialects::te::Kernel;
use fusion_operators::ops::{name}::{constant};

pub const TABLE: Table = &[(&{constant}, {name})];

fn {name}<'c>(_: &Kernel<'c>, _: &TeCall<'c>) -> Built<'c> {{
    Err("is not defined yet; write me, in {DEFINITIONS}/{name}.rs".into())
}}
"#
    )
}

fn conversion(name: &str, constant: &str, onnx: &str) -> String {
    format!(
        r#"//! {onnx}.

use fusion_operators::Attrs;
use fusion_operators::ops::{name}::{constant};

use crate::onnx::ops::{{Conversion, row}};

pub const ROWS: &[Conversion] = &[row("{onnx}", |im, node| im.call(&{constant}, &[node.input(0)?], Attrs::new()))];
"#
    )
}

fn test(name: &str) -> String {
    format!(
        r#"// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te)' | FileCheck %s

// CHECK-LABEL: te.kernel @{name}
// CHECK:         write me: what it becomes
func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{relay.primitive}} {{
  %0 = relay.{name} %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"#
    )
}
