//! Branches and loops.

use super::{listed, same, terminator, types_of, yielded};
use crate::{Op, OpExt, Type, TypeParts, arguments, type_parts};
use fusion_operators::DType;

pub fn branches(op: Op) -> Result<(), String> {
    condition(&types_of(&op.operand_values()), "the condition")?;
    let results = types_of(&op.result_values());
    for (region, name) in [(0, "the first region"), (1, "the second region")] {
        let block = op.body(region).ok_or_else(|| format!("{name} is empty"))?;
        same(&yielded(block)?, &results, &format!("what {name} yields"))?;
    }
    Ok(())
}

pub fn while_loop(op: Op) -> Result<(), String> {
    let state = types_of(&op.operand_values());
    same(&types_of(&op.result_values()), &state, "the results")?;
    for (region, name) in [(0, "the condition region"), (1, "the body")] {
        let block = op.body(region).ok_or_else(|| format!("{name} is empty"))?;
        same(&types_of(&arguments(block)), &state, &format!("what {name} takes"))?;
    }
    let tested = op.body(0).and_then(terminator).map(|t| t.operand_values()).unwrap_or_default();
    condition(&types_of(&tested), "what the condition region yields")?;
    let next = op.body(1).ok_or("the body is empty").map_err(String::from)?;
    same(&yielded(next)?, &state, "what the body yields")
}

fn condition(types: &[Type], what: &str) -> Result<(), String> {
    let scalar = |ty: &Type| match type_parts(*ty) {
        TypeParts::Tensor(tensor) => tensor.rank() == 0 && tensor.dtype == DType::Bool,
        TypeParts::Hole => true,
        _ => false,
    };
    match types {
        [ty] if scalar(ty) => Ok(()),
        _ => {
            let found = listed(types);
            let found = found.strip_prefix('(').and_then(|f| f.strip_suffix(')')).unwrap_or(&found);
            Err(format!("{what} must be one tensor<i1>, found {found}"))
        }
    }
}
