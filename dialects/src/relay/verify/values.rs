//! Tuples, annotations and cells.

use super::{same, types_of};
use crate::rows::Kind;
use crate::{Op, OpExt, TypeParts, ref_type, tuple_type, type_parts};

pub fn tuple(op: Op) -> Result<(), String> {
    let result = types_of(&op.result_values());
    let elements = types_of(&op.operand_values());
    same(&result, &[tuple_type(op.context_ref(), &elements)], "the tuple's type")
}

pub fn get(op: Op) -> Result<(), String> {
    let ty = types_of(&op.operand_values())[0];
    let elements = match type_parts(ty) {
        TypeParts::Tuple(elements) => elements,
        _ => return Ok(()),
    };
    let index = op.int("index").unwrap_or(-1);
    let element = usize::try_from(index).ok().and_then(|i| elements.get(i));
    let Some(element) = element else {
        return Err(format!("violates constraint C1: index {index} is out of range for {ty}"));
    };
    same(&types_of(&op.result_values()), &[*element], "the element's type")
}

pub fn ascribe(op: Op) -> Result<(), String> {
    same(&types_of(&op.result_values()), &types_of(&op.operand_values()), "violates constraint C1: the type")
}

/// A cell holds values of one type.
pub fn reference(op: Op) -> Result<(), String> {
    use super::Functional::{RefNew, RefRead};
    let (operands, results) = (types_of(&op.operand_values()), types_of(&op.result_values()));
    let (cell, value) = match op.kind() {
        Some(Kind::Relay(RefNew)) => (results[0], operands[0]),
        Some(Kind::Relay(RefRead)) => (operands[0], results[0]),
        _ => (operands[0], operands[1]),
    };
    same(&[cell], &[ref_type(value)], "the cell's type")
}
