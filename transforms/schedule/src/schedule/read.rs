//! Applies the primitives of a `te.schedule` to the tree.

use super::{Handle, Handles, Said, Schedule, check, primitives};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, PassError, kind_of, ops_in};

/// Applies the first `until` primitives of a schedule (all of them when negative). Handles are not primitives.
pub fn apply_schedule<'c>(
    tree: &mut Schedule<'c>,
    schedule: Op<'c>,
    until: i64,
) -> Result<(), PassError<'c>> {
    let mut handles = Handles::default();
    let mut applied = 0;
    for op in schedule.body(0).map(ops_in).unwrap_or_default() {
        let Some(Kind::Te(kind)) = kind_of(op) else {
            return Err(PassError::at(op, "is no primitive of a schedule"));
        };
        let is_handle = matches!(kind, Te::Stage | Te::Axes | Te::Input);
        if !is_handle && until >= 0 && applied >= until {
            break;
        }
        let outcome = match kind {
            Te::Stage => stage(tree, op, &mut handles),
            Te::Axes => axes(tree, op, &mut handles),
            Te::Input => input(tree, op, &mut handles),
            _ => primitives::apply(kind, tree, op, &mut handles),
        };
        let operands: Vec<_> = op.operand_values().into_iter().map(|v| handles.get(v)).collect();
        outcome.map_err(|why| PassError::at(op, format_args!("{why} {}", tree.context_of(op, &operands))))?;
        if !is_handle {
            applied += 1;
            tree.said.push(Said { op, kind, handles: operands.into_iter().flatten().collect() });
        }
    }
    check::check(tree).map_err(|refusal| tree.refuse(refusal))
}

fn stage(tree: &Schedule, op: Op, handles: &mut Handles) -> Result<(), String> {
    let name = op.text("name").unwrap_or_default();
    let Some(stage) = tree.named(name) else {
        let names: Vec<_> = tree.stages.iter().map(|s| format!("\"{}\"", s.name)).collect();
        return Err(format!("names no stage of the kernel; its stages are {}", names.join(", ")));
    };
    handles.define(&op.result_values(), &[Handle::Stage(stage)]);
    Ok(())
}

fn axes(tree: &Schedule, op: Op, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    let leaves = &tree.stages[stage].leaves;
    let results = op.result_values();
    if results.len() != leaves.len() {
        return Err(format!(
            "gives {} loops, stage \"{}\" has {}",
            results.len(),
            tree.stages[stage].name,
            leaves.len()
        ));
    }
    let found: Vec<_> = leaves.iter().map(|&a| Handle::Axis(stage, a)).collect();
    handles.define(&results, &found);
    Ok(())
}

fn input(tree: &Schedule, op: Op, handles: &mut Handles) -> Result<(), String> {
    let index = op.int("index").unwrap_or(-1);
    match usize::try_from(index).ok().filter(|&i| i < tree.inputs.len()) {
        Some(index) => {
            handles.define(&op.result_values(), &[Handle::Input(index)]);
            Ok(())
        }
        None => Err(format!("names argument {index}; the kernel has {}", tree.inputs.len())),
    }
}
