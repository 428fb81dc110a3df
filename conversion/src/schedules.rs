//! Schedules written by hand: those of a file take the place of the default ones of their kernels.
//!
//! ```text
//!   my.mlir:  te.schedule for @fused_dense_add_relu_0 {        the kernels' names are those `fusion explain` shows
//!               %s = te.stage "dense"
//!               ...
//!             }
//! ```
//!
//! The intrinsics they name may be declared beside them. They join the module before `te-schedule`, which leaves kernels that
//! have a schedule alone. The primitives keep their places in the file, so that whatever refuses one later names its line.

use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Location, Module, Op, OpExt, OperationLike, ValueMap, kind_of, module_op, ops_in, parse_file, te,
    top_level,
};
use indexmap::{IndexMap, IndexSet};
use std::path::Path;

/// Puts the schedules of a file behind the kernels they are for; the errors have their locations.
pub fn add(module: &Module, path: &Path) -> Result<(), Vec<String>> {
    let root = module_op(module);
    let kernels: IndexMap<&str, Op> = top_level(root, |k| matches!(k, Kind::Te(te::Op::Kernel)))
        .into_iter()
        .filter_map(|kernel| Some((kernel.text("sym_name")?, kernel)))
        .collect();
    let existing = top_level(root, |k| matches!(k, Kind::Te(te::Op::Schedule)));
    let mut scheduled: IndexSet<String> =
        existing.iter().filter_map(|s| s.text("kernel")).map(str::to_owned).collect();
    can_be_read(path).map_err(|error| {
        let path = path.display();
        vec![format!(
            "cannot read the schedules of {path}: {error}; give a file of `te.schedule for @KERNEL {{ ... }}`"
        )]
    })?;
    let written = parse_file(root.context_ref(), path)?;
    let mut errors = Vec::new();
    for op in module_op(&written).body(0).map(ops_in).unwrap_or_default() {
        let mut wrong = |why: String| errors.push(format!("{}: {why}", place(op.location())));
        let name = op.text("kernel").unwrap_or_default();
        if matches!(kind_of(op), Some(Kind::Te(te::Op::Intrinsic))) {
            if let Some(kernel) = kernels.values().next() {
                ValueMap::new().clone_op(&Build::after(*kernel), op);
            }
        } else if !matches!(kind_of(op), Some(Kind::Te(te::Op::Schedule))) {
            wrong(format!(
                "'{}' op is no te.schedule, and a file of schedules has nothing else but intrinsics",
                op.full_name()
            ));
        } else if let Some(kernel) = kernels.get(name) {
            if scheduled.insert(name.to_owned()) {
                ValueMap::new().clone_op(&Build::after(*kernel), op);
            } else {
                wrong(format!("'te.schedule' op is the second one for @{name}"));
            }
        } else {
            let known: Vec<String> = kernels.keys().map(|name| format!("@{name}")).collect();
            wrong(format!(
                "'te.schedule' op is for @{name}, which is no kernel of this model; its kernels are {}",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            ));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn can_be_read(path: &Path) -> std::io::Result<()> {
    match std::fs::File::open(path)?.metadata()?.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    }
}

/// `file:line:column` of `loc("file":line:column)`.
fn place(location: Location) -> String {
    let text = location.to_string();
    let inner = text.strip_prefix("loc(").and_then(|t| t.strip_suffix(')')).unwrap_or(&text);
    inner.replace('"', "")
}
